import type { Credentials } from '../../../etcd/endpoint.ts';
import { type Fetched, hiddenSecret, isUnread, type Unread } from '../../shared/secret-reader.ts';
import { textOf } from './validate.ts';

export interface JudgedCredentials {
  readonly problem?: string;
  readonly identity?: { readonly credentials: Credentials };
}

/** Parses a Secret of type kubernetes.io/basic-auth. */
export function credentialsIn(
  fetched: Fetched | Unread,
  { name, realm }: { name: string; realm: string },
): JudgedCredentials {
  if (fetched === 'missing') return { problem: `Secret ${name} does not exist: create it with username and password` };
  if (fetched === 'hidden') return { problem: hiddenSecret(name) };
  if (isUnread(fetched)) return { problem: fetched.unread };
  const [user, password] = [textOf(fetched.data['username']), textOf(fetched.data['password'])];
  if (user === '') return { problem: `Secret ${name}: username is missing or empty: add it` };
  if (password === '') return { problem: `Secret ${name}: password is missing or empty: add it` };
  return { identity: { credentials: { user, password, realm } } };
}

/** The problem if etcd refuses the user or the password. */
export const wrongPassword = (name: string): string =>
  `Secret ${name}: etcd refuses this username and password: correct username or password`;

/** The problem if the user lacks permissions. */
export const missingRootRole = (name: string): string =>
  `Secret ${name}: the etcd user lacks permissions that the operator needs: grant it the role root`;
