import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../std/failure.ts';

/** Credentials for a store: the keys of a mounted Secret. */
export interface StoreCredentials {
  /** Name of the Secret, for messages. */
  readonly secret: string;
  /** Mount directory, for libraries that read files themselves. */
  readonly directory: string;
  readonly keys: ReadonlyMap<string, string>;
}

/** Reads a mounted Secret. Names with two leading dots are links of the kubelet, not keys. */
export async function readCredentials(directory: string, secret: string): Promise<StoreCredentials> {
  const entries = await readdir(directory).catch((error: unknown) => {
    const detail = `cannot read Secret "${secret}": it is not mounted at ${directory}`;
    throw new Failure('rejected', detail, { cause: error });
  });
  const names = entries.filter((name) => !name.startsWith('..'));
  const read = async (name: string): Promise<[string, string]> => [name, await readFile(join(directory, name), 'utf8')];
  return { secret, directory, keys: new Map(await Promise.all(names.map(read))) };
}

/** Values of required keys, without surrounding white space. */
export function requiredKeys<K extends string>(
  { secret, keys }: StoreCredentials,
  ...names: readonly K[]
): Readonly<Record<K, string>> {
  const values = names.map((name): [K, string] => [name, keys.get(name)?.trim() ?? '']);
  const missing = values.filter(([, value]) => value === '').map(([name]) => `"${name}"`);
  if (missing.length === 0) return Object.fromEntries(values) as Record<K, string>;
  const detail = `Secret "${secret}" has no value for ${missing.join(' and ')}: it needs the keys ${names.join(', ')}`;
  throw new Failure('rejected', detail);
}

/** `key "a" and key "b" of Secret "s"`, for messages. */
export const keysOfSecret = ({ secret }: StoreCredentials, ...names: readonly string[]): string =>
  `${names.map((name) => `key "${name}"`).join(' and ')} of Secret "${secret}"`;

export const workloadIdentity = "no Secret, but the pod's own workload identity";
