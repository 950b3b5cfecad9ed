import type { Credentials } from '../../etcd/endpoint.ts';
import { type Fetched, hiddenSecret, isUnread, type Unread } from './fetch-secret.ts';
import { textOf } from './judge-certificates.ts';

export interface JudgedCredentials {
  readonly problem?: string;
  readonly identity?: { readonly credentials: Credentials };
}

/** A name and a password, as Kubernetes' own type for them has it. */
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

/** What to say when etcd does not let this user in. */
export const wrongPassword = (name: string): string =>
  `Secret ${name}: etcd does not know this username with this password: correct username or password`;

/** What to say when it lets this user in, and no further. */
export const tooLittleSay = (name: string): string =>
  `Secret ${name}: etcd does not let this user do what the operator has to: grant it the role root`;
