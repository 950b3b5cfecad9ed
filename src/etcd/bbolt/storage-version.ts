import { open } from 'node:fs/promises';
import { valueIn } from './bbolt.ts';
import { unreadable } from './fields.ts';

/** The oldest etcd version that can read a database. Etcd stores it since 3.6. */
export async function storageVersionIn(path: string): Promise<string | undefined> {
  await using file = await open(path);
  const value = await valueIn(file, { bucket: 'meta', key: 'storageVersion' });
  if (value === undefined || value.byteLength === 0) return undefined; // etcd may have started to write it
  const version = value.subarray(0, 32).toString('latin1');
  if (!/^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(version)) throw unreadable('its storageVersion is not a version');
  return version;
}
