import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type KubeObject, now } from '../object.ts';
import { Store } from '../store/store.ts';
import { expireEvents } from './events.ts';

const minute = 60_000;
let directory: string;
let store: Store;
let stop: () => void;

const write = (name: string, writtenAgain = false): void => {
  const managedFields = writtenAgain ? [{ manager: 'm', operation: 'Update', time: now() }] : [];
  const place = { collection: '/events', namespace: 'default', name };
  const creationTimestamp = store.get(place)?.metadata.creationTimestamp ?? now();
  const metadata = { name, namespace: 'default', creationTimestamp, managedFields };
  store.put(place, { apiVersion: 'v1', kind: 'Event', metadata } as unknown as KubeObject);
};
const names = (): readonly string[] => store.list('/events').map(({ metadata }) => metadata.name);

beforeEach(() => {
  vi.useFakeTimers();
  directory = mkdtempSync(join(tmpdir(), 'lab-events-'));
  store = new Store(directory);
  stop = expireEvents(store);
});
afterEach(() => {
  stop();
  store.close();
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

it('an Event is removed an hour after its last update', () => {
  write('once');
  write('again');
  vi.advanceTimersByTime(30 * minute);
  write('again', true);
  vi.advanceTimersByTime(29 * minute);
  expect(names()).toEqual(['again', 'once']);
  vi.advanceTimersByTime(3 * minute);
  expect(names()).toEqual(['again']);
  vi.advanceTimersByTime(30 * minute);
  expect(names()).toEqual([]);
});

it('an expired Event stays while the disk is full', () => {
  write('old');
  const removal = vi.spyOn(store, 'remove').mockImplementation(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  vi.advanceTimersByTime(61 * minute);
  expect(names()).toEqual(['old']);
  removal.mockRestore();
  vi.advanceTimersByTime(minute);
  expect(names()).toEqual([]);
});
