import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';

/** What lets one read through a courier: files of a mounted Secret. */
export interface CourierPass {
  /** `host:port`. */
  readonly address: string;
  /** The authority that its certificate is of. */
  readonly authority: string;
  readonly token: string;
}

/** Under which names all of that is kept, and what only the courier itself has. */
export const courierFiles = {
  address: 'address',
  authority: 'ca.crt',
  token: 'token',
  certificate: 'tls.crt',
  key: 'tls.key',
} as const;

/** The name in every courier's certificate: addresses change, and each of them has an authority of its own. */
export const courierName = 'courier';

/** Headers of an answer: what is known of the object, or what is wrong. */
export const courierHeaders = {
  size: 'x-object-size',
  modified: 'x-object-modified',
  trouble: 'x-store-trouble',
  says: 'x-store-says',
} as const;

export const courierPath = (key: string): string => `/${key.split('/').map(encodeURIComponent).join('/')}`;

type FileName = keyof typeof courierFiles;

/** Files of the Secret, without the line ends that editors add. */
export async function readCourierFiles<N extends FileName>(
  directory: string,
  ...names: readonly N[]
): Promise<Readonly<Record<N, string>>> {
  const read = async (name: N): Promise<[N, string]> => [
    name,
    (await readFile(join(directory, courierFiles[name]), 'utf8')).trim(),
  ];
  try {
    return Object.fromEntries(await Promise.all(names.map(read))) as Record<N, string>;
  } catch (error) {
    throw new Failure('unreachable', `the courier's Secret is not mounted at ${directory}`, { cause: error });
  }
}
