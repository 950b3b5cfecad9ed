import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../std/failure.ts';

/** What is shown to a store: the contents of a Secret, as the files it is mounted as. */
export interface Credentials {
  /** The Secret's name, for sentences. */
  readonly secret: string;
  /** The directory it is mounted at, for libraries that read files themselves. */
  readonly directory: string;
  readonly keys: ReadonlyMap<string, string>;
}

/** Reads a mounted Secret. Kubernetes keeps its own links beside the keys; their names begin with two dots. */
export async function readCredentials(directory: string, secret: string): Promise<Credentials> {
  const entries = await readdir(directory).catch((error: unknown) => {
    const says = `cannot read Secret "${secret}", which should be mounted at ${directory}`;
    throw new Failure('rejected', says, { cause: error });
  });
  const names = entries.filter((name) => !name.startsWith('..'));
  const read = async (name: string): Promise<[string, string]> => [name, await readFile(join(directory, name), 'utf8')];
  return { secret, directory, keys: new Map(await Promise.all(names.map(read))) };
}

/** The values of keys that must be there, without the line end that editors add. */
export function requiredKeys<K extends string>(
  { secret, keys }: Credentials,
  ...names: readonly K[]
): Readonly<Record<K, string>> {
  const values = names.map((name): [K, string] => [name, keys.get(name)?.trim() ?? '']);
  const missing = values.filter(([, value]) => value === '').map(([name]) => `"${name}"`);
  if (missing.length === 0) return Object.fromEntries(values) as Record<K, string>;
  const says = `Secret "${secret}" has nothing under ${missing.join(' and ')}: it needs the keys ${names.join(', ')}`;
  throw new Failure('rejected', says);
}

/** `key "a" and key "b" of Secret "s"`, for sentences. */
export const keysOfSecret = ({ secret }: Credentials, ...names: readonly string[]): string =>
  `${names.map((name) => `key "${name}"`).join(' and ')} of Secret "${secret}"`;

export const workloadIdentity = "no Secret, but the pod's own workload identity";
