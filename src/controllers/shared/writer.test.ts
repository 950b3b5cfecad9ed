import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods, type Resource } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { Expectations } from '../../runtime/expectations.ts';
import { slim } from '../../runtime/slim.ts';
import { Store } from '../../runtime/store.ts';
import { type Writer, writerFor } from './writer.ts';

function writerOf(agentNamespace?: string) {
  const written: string[] = [];
  const wrote = async (_: unknown, at: { namespace?: string; metadata?: { namespace?: string } }): Promise<never> => {
    written.push(at.namespace ?? at.metadata?.namespace ?? '');
    return { metadata: {} } as never;
  };
  const expectations = new Expectations({ clock, onExpired: () => undefined });
  const client = { create: wrote, patch: wrote, remove: wrote } as never;
  const writer = writerFor('tenant/db', {
    ...{ client, expectations, storeOf: () => undefined, onStatus: () => undefined },
    ...(agentNamespace === undefined ? {} : { agentNamespace }),
  });
  const all = (namespace: string): Promise<unknown> =>
    Promise.allSettled([
      writer.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace } }),
      writer.patch(pods, { name: 'db-0', namespace }, { type: 'merge', body: {} }),
      writer.remove(pods, { name: 'db-0', namespace }, { preconditions: { uid: 'u', resourceVersion: '1' } }),
    ]);
  return { written, all };
}

describe('a writer for a resource', () => {
  it('writes in its namespace', async () => {
    const { written, all } = writerOf();
    await all('tenant');
    expect(written).toEqual(['tenant', 'tenant', 'tenant']);
  });

  it('refuses every write to an object of another namespace', async () => {
    const { written, all } = writerOf();
    expect(JSON.stringify(await all('attacker'))).not.toContain('fulfilled');
    expect(written).toEqual([]);
  });

  it('writes for agents in the namespace of the operator, too', async () => {
    const { written, all } = writerOf('operators');
    await all('operators');
    await all('attacker');
    expect(written).toEqual(['operators', 'operators', 'operators']);
  });
});

const asSeen = { uid: 'u', labels: { app: 'etcd' }, ownerReferences: [{ uid: 'cluster' }] };

/** Returns the preconditions of a removal that was planned on `asSeen` while the API server has `live`. */
async function removedWhile(live: object, preconditions: { uid: string; resourceVersion?: string } = { uid: 'u' }) {
  const asked: unknown[] = [];
  const identity = { name: 'db-0', namespace: 'tenant' };
  const known = { kind: 'Pod', metadata: { ...identity, ...asSeen, resourceVersion: '3' }, spec: {} };
  const client = {
    get: async () => ({
      kind: 'Pod',
      spec: {},
      ...live,
      metadata: { ...identity, ...asSeen, resourceVersion: '7', ...live },
    }),
    remove: async (_: unknown, __: unknown, how: { preconditions: object }) => void asked.push(how.preconditions),
  } as never;
  const store = { get: () => known, version: '3' } as never;
  const expectations = new Expectations({ clock, onExpired: () => undefined });
  const writer = writerFor('tenant/db', { client, expectations, storeOf: () => store, onStatus: () => undefined });
  await writer.remove(pods, identity, { preconditions }).catch((thrown: Error) => asked.push(thrown.message));
  return asked;
}

describe('a removal by the writer', () => {
  it('reads the object once more, and has its UID and that resourceVersion as preconditions', async () =>
    expect(await removedWhile({})).toEqual([{ uid: 'u', resourceVersion: '7' }]));

  it('with a resourceVersion keeps that resourceVersion as a precondition', async () =>
    expect(await removedWhile({}, { uid: 'u', resourceVersion: '5' })).toEqual([{ uid: 'u', resourceVersion: '5' }]));

  it('succeeds if only the status has changed since it was planned', async () =>
    expect(await removedWhile({ status: { phase: 'Failed' } })).toEqual([{ uid: 'u', resourceVersion: '7' }]));

  it.each([
    ['of another object under the same name', { uid: 'another' }, 'Pod db-0 is another object now'],
    ['of an object with other labels', { labels: {} }, 'Pod db-0 has changed since its removal was planned'],
    ['of an object with another owner', { ownerReferences: [] }, 'Pod db-0 has changed since its removal was planned'],
    [
      'of an object with another spec',
      { spec: { nodeName: 'n' } },
      'Pod db-0 has changed since its removal was planned',
    ],
  ])('%s is refused', async (_, live, says) => expect(await removedWhile(live)).toEqual([says]));
});

describe('a pass after a write', () => {
  const metadata = { name: 'db-0', namespace: 'tenant', uid: 'u', resourceVersion: '7', creationTimestamp: '' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata };
  const at = { name: 'db-0', namespace: 'tenant' };

  it.each([
    ['created', (writer: Writer) => writer.create(pods, pod)],
    ['patched', (writer: Writer) => writer.patch(pods, at, { type: 'merge', body: {} })],
    ['removed', (writer: Writer) => writer.remove(pods, at, { preconditions: { uid: 'u', resourceVersion: '7' } })],
  ])('waits until the cache shows a pod that was %s', async (_, write) => {
    const store = new Store<KubeObject>({ onHandlerFailure: () => undefined });
    store.replace([{ ...pod, metadata: { ...metadata, resourceVersion: '5' } }], '5');
    const expectations = new Expectations({ clock, onExpired: () => undefined });
    const client = { create: async () => pod, patch: async () => pod, remove: async () => undefined } as never;
    const writer = writerFor('tenant/db', { client, expectations, storeOf: () => store, onStatus: () => undefined });
    await write(writer);
    expect(expectations.caughtUp('tenant/db')).toBe(false);
    store.remove({ ...pod, metadata: { ...metadata, resourceVersion: '8' } });
    expect(expectations.caughtUp('tenant/db')).toBe(true);
  });
});

/** Returns the preconditions of a removal while the cache keeps a trimmed copy of `live`. */
async function removedFromCache(live: Stored<KubeObject>, resource: Resource<KubeObject>) {
  const asked: unknown[] = [];
  const client = {
    get: async () => live,
    remove: async (_: unknown, __: unknown, how: { preconditions: object }) => void asked.push(how.preconditions),
  } as never;
  const store = { get: () => slim(live), version: '3' } as never;
  const expectations = new Expectations({ clock, onExpired: () => undefined });
  const writer = writerFor('tenant/db', { client, expectations, storeOf: () => store, onStatus: () => undefined });
  const removal = writer.remove(resource, live.metadata, { preconditions: { uid: 'u' } });
  await removal.catch((thrown: Error) => asked.push(thrown.message));
  return asked;
}

describe('a removal of an object that caches trim', () => {
  const metadata = { ...asSeen, name: 'db-0', namespace: 'tenant', resourceVersion: '7', creationTimestamp: '' };
  const stored = (object: object) => ({ apiVersion: 'v1', kind: 'Pod', ...object }) as unknown as Stored<KubeObject>;

  it('succeeds for a PVC that was written with kubectl apply', async () => {
    const annotations = { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const claim = stored({ kind: 'PersistentVolumeClaim', metadata: { ...metadata, annotations }, spec: {} });
    expect(await removedFromCache(claim, persistentVolumeClaims)).toEqual([{ uid: 'u', resourceVersion: '7' }]);
  });

  it('succeeds for a pod of more than 256 KiB', async () => {
    const env = [{ name: 'LARGE', value: 'x'.repeat(300_000) }];
    const pod = stored({ metadata, spec: { containers: [{ name: 'etcd', env }] } });
    expect(await removedFromCache(pod, pods)).toEqual([{ uid: 'u', resourceVersion: '7' }]);
  });
});

it('only the writer deletes objects, with their UID as a precondition', () => {
  const files = globSync('src/{agent,controllers,operator,runtime}/**/*.ts').filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const removing = files.filter((file) => /client\.remove\(/.test(readFileSync(file, 'utf8')));
  const known = ['src/controllers/shared/writer.ts', 'src/operator/chaos.ts', 'src/runtime/fenced-kube-client.ts'];
  expect(removing.toSorted()).toEqual(known);
});
