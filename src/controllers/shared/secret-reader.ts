import { secrets } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import type { SecretContent } from '../cluster/tls/validate.ts';
import type { ControllerContext } from './context.ts';

/** `missing`: the Secret does not exist. `hidden`: the operator may not read the Secret. */
export type Fetched = SecretContent | 'missing' | 'hidden';

export async function fetchSecret(
  name: string,
  namespace: string,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<Fetched> {
  try {
    return { name, data: (await client.get(secrets, { namespace, name })).data ?? {} };
  } catch (thrown) {
    const { kind } = Failure.from(thrown);
    if (kind === 'not-found') return 'missing';
    if (kind === 'forbidden') return 'hidden';
    throw thrown;
  }
}

/** Why a Secret could not be read. The Secret may exist. */
export interface Unread {
  readonly unread: string;
}

/** Returns the Secret, or why it could not be read. A bug of the operator is thrown. */
export const orUnread = <T>(name: string, reading: Promise<T>): Promise<T | Unread> =>
  reading.catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'bug') throw thrown;
    return { unread: kind === 'forbidden' ? hiddenSecret(name) : `Secret ${name} cannot be read: ${message}` };
  });

export const isUnread = (found: object | string): found is Unread => typeof found === 'object' && 'unread' in found;

export const hiddenSecret = (name: string): string =>
  `Secret ${name} may not be read by the operator: grant it the right to get secrets`;
