import { open } from 'node:fs/promises';
import { valueIn } from './bbolt.ts';
import { unreadable } from './bbolt-fields.ts';

/** The oldest etcd that can read a database, as the database itself says; from etcd 3.6 on it does. */
export async function storageVersionIn(path: string): Promise<string | undefined> {
  await using file = await open(path);
  const value = await valueIn(file, { bucket: 'meta', key: 'storageVersion' });
  if (value === undefined || value.byteLength === 0) return undefined; // etcd may have begun to write it
  const version = value.subarray(0, 32).toString('latin1');
  if (!/^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(version)) throw unreadable('its storageVersion is no version');
  return version;
}
