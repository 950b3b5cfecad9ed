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

export const hiddenSecret = (name: string): string =>
  `Secret ${name} may not be read by the operator: grant it the right to get secrets`;
