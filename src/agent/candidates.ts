import { type ObjectAddress, otherKeysOf } from '../objectstore/address.ts';
import { StoreFailure } from '../objectstore/failures.ts';
import { isManifestKey } from '../objectstore/names.ts';
import type { ObjectStore, OpenObject, StoredObject } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';

const maxListed = 1000;
const maxNamed = 5;

/** Opens an object. If it is missing, the error names similar objects: keys of backups are long and dated. */
export async function openOrSuggest(
  store: ObjectStore,
  address: ObjectAddress,
  signal: AbortSignal,
): Promise<OpenObject> {
  const { key } = address;
  try {
    return await store.get(key, signal);
  } catch (thrown) {
    const others = isMissing(thrown) ? otherKeysOf(address) : [];
    const elsewhere = await firstThere(store, others, signal);
    if (elsewhere !== undefined) return elsewhere;
    if (Failure.from(thrown).kind === 'not-found') addTo(thrown, await suggestion(store, key, signal));
    throw thrown;
  }
}

/** Without the right to list, stores answer "denied" for a missing object. */
const isMissing = (thrown: unknown): boolean =>
  thrown instanceof StoreFailure && (thrown.trouble === 'no-object' || thrown.trouble === 'denied');

async function firstThere(
  store: ObjectStore,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<OpenObject | undefined> {
  for (const key of keys) {
    const found = await store.get(key, signal).catch((thrown: unknown) => {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

const addTo = (thrown: unknown, text: string): void => {
  if (thrown instanceof Error) thrown.message += text;
};

async function suggestion(store: ObjectStore, key: string, signal: AbortSignal): Promise<string> {
  const directory = key.slice(0, key.lastIndexOf('/') + 1);
  for (const prefix of new Set([key, directory])) {
    const found = await newestBelow(store, prefix, signal);
    if (found.length > 0) return `; objects that begin with "${prefix}": ${found.join(', ')}`;
  }
  return '';
}

async function newestBelow(store: ObjectStore, prefix: string, signal: AbortSignal): Promise<readonly string[]> {
  const seen = await listed(store, prefix, signal).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind === 'bug') throw thrown;
    return []; // the credentials may allow reading but not listing
  });
  const newest = seen
    .filter(({ key }) => !isManifestKey(key))
    .toSorted((a, b) => b.modified.getTime() - a.modified.getTime());
  const named = newest.slice(0, maxNamed).map(({ key }) => key);
  return newest.length > maxNamed ? [...named, `and ${newest.length - maxNamed} more`] : named;
}

async function listed(store: ObjectStore, prefix: string, signal: AbortSignal): Promise<readonly StoredObject[]> {
  const seen: StoredObject[] = [];
  for await (const object of store.list(prefix, signal)) {
    seen.push(object);
    if (seen.length >= maxListed) break;
  }
  return seen;
}
