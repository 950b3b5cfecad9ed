import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../std/failure.ts';

/** Keys of the Secrets. Only the Secret of the store proxy itself has the certificate and its key. */
export const storeProxyFiles = {
  /** `host:port`. */
  address: 'address',
  /** CA of its certificate. */
  ca: 'ca.crt',
  token: 'token',
  certificate: 'tls.crt',
  key: 'tls.key',
} as const;

/** The DNS name in the certificate of every store proxy: addresses change, and each store proxy has a CA of its own. */
export const storeProxyName = 'store-proxy';

/** Response headers: metadata of the object, or the failure. */
export const storeProxyHeaders = {
  size: 'x-object-size',
  modified: 'x-object-modified',
  trouble: 'x-store-trouble',
  detail: 'x-store-detail',
} as const;

export const storeProxyPath = (key: string): string => `/${key.split('/').map(encodeURIComponent).join('/')}`;

type FileName = keyof typeof storeProxyFiles;

/** Reads files of the Secret, without surrounding white space. */
export async function readStoreProxyFiles<N extends FileName>(
  directory: string,
  ...names: readonly N[]
): Promise<Readonly<Record<N, string>>> {
  const read = async (name: N): Promise<[N, string]> => [
    name,
    (await readFile(join(directory, storeProxyFiles[name]), 'utf8')).trim(),
  ];
  try {
    return Object.fromEntries(await Promise.all(names.map(read))) as Record<N, string>;
  } catch (error) {
    throw new Failure('unreachable', `the Secret of the store proxy is not mounted at ${directory}`, { cause: error });
  }
}
