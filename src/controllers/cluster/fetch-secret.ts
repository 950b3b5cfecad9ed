import { secrets } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import type { SecretContent } from './judge-certificates.ts';
import type { Tools } from './sources.ts';

/** `missing`: nobody has made it. `hidden`: we may not read it. */
export type Fetched = SecretContent | 'missing' | 'hidden';

export async function fetchSecret(
  name: string,
  namespace: string,
  { client }: Pick<Tools, 'client'>,
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

/** In place of a Secret that could not be read just now, why: it may be there, with whatever content. */
export interface Unread {
  readonly unread: string;
}

/** What reading a Secret gives, or why it could not be read. A bug of ours is none of its reasons. */
export const orUnread = <T>(name: string, reading: Promise<T>): Promise<T | Unread> =>
  reading.catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'bug') throw thrown;
    return { unread: kind === 'forbidden' ? hiddenSecret(name) : `Secret ${name} cannot be read: ${message}` };
  });

export const isUnread = (found: object | string): found is Unread => typeof found === 'object' && 'unread' in found;

export const hiddenSecret = (name: string): string =>
  `Secret ${name} may not be read by the operator: grant it the right to get secrets`;
