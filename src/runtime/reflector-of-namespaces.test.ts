import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeApiServer, json, line, refuse } from '../../test/support/fake-api-server.ts';
import { samplePod } from '../../test/support/sample-objects.ts';
import { until } from '../../test/support/until.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { anonymousAccess } from '../kube/config.ts';
import { connectTo } from '../kube/connection.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import type { Pod, Stored } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import { systemClock } from './clock.ts';
import { Expectations } from './expectations.ts';
import { reflectorOfNamespaces } from './reflector-of-namespaces.ts';
import { Store } from './store.ts';

const podIn = (namespace: string, name: string, version: number): Stored<Pod> => {
  const pod = samplePod(name, version);
  return { ...pod, metadata: { ...pod.metadata, namespace, uid: `${namespace}-${name}` } };
};

const indexes = { name: ({ metadata }: Stored<Pod>) => [metadata.name] };
const path = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** A reflector of the namespaces a and b; `watch` answers their watches. */
async function running(watch: (response: ServerResponse, request: FakeRequest) => void) {
  const server = await fakeApiServer((response, request) => {
    if (request.query.has('watch')) return watch(response, request);
    const namespace = request.path === path('a') ? 'a' : 'b';
    if (request.path !== path(namespace)) return refuse(response, 403, 'Forbidden');
    const resourceVersion = namespace === 'a' ? '50' : '5';
    return json(response, { metadata: { resourceVersion }, items: [podIn(namespace, 'x', 3)] });
  });
  const connection = connectTo(anonymousAccess(server.url), { userAgent: 'test' });
  const client = new HttpKubeClient(connection, { fieldManager: 'test' });
  const onFailure = ({ message }: Error) => void failures.push(message);
  const failures: string[] = [];
  const reflector = reflectorOfNamespaces<Pod>(['a', 'b'], {
    client,
    resource: pods,
    clock: systemClock,
    onFailure,
    indexes,
  });
  const stop = new AbortController();
  const ended = reflector.run(stop.signal);
  await reflector.synced;
  return {
    store: reflector.store,
    server,
    failures,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
      await connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('a reflector of several namespaces', () => {
  it('lists and watches each namespace, and sends no cluster-wide request', async () => {
    await using cache = await running((response, request) => {
      response.setHeader('content-type', 'application/json');
      if (request.path === path('b')) response.write(line('ADDED', podIn('b', 'y', 6)));
      else response.flushHeaders();
    });
    await until('the event is in the store', async () => cache.store.get('b/y'));
    expect(
      cache.store
        .all()
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .toSorted(),
    ).toEqual(['a/x', 'b/x', 'b/y']);
    expect(new Set(cache.server.requests.map((each) => each.path))).toEqual(new Set([path('a'), path('b')]));
    const from = cache.server.requests
      .filter(({ query }) => query.has('watch'))
      .map((each) => each.query.get('resourceVersion'));
    expect(new Set(from)).toEqual(new Set(['5', '50']));
    expect(cache.store.by('name', 'b', 'x')).toHaveLength(1);
    expect(cache.failures).toEqual([]);
  });
});

describe('a store of several namespaces', () => {
  const store = (): Store<Pod> => {
    const made = new Store<Pod>({ perNamespace: true, onHandlerFailure: ({ message }) => expect.unreachable(message) });
    made.replace([podIn('a', 'x', 3)], '50', 'a');
    made.replace([podIn('b', 'x', 4)], '5', 'b');
    return made;
  };

  it('keeps the objects of other namespaces when one namespace is listed again', () => {
    const made = store();
    made.replace([], '60', 'a');
    expect(made.all().map(({ metadata }) => metadata.uid)).toEqual(['b-x']);
  });

  it('has a resourceVersion for each namespace', () => {
    const made = store();
    made.advance('70', 'a');
    made.put(podIn('b', 'y', 6));
    expect([made.versionIn('a'), made.versionIn('b')]).toEqual(['70', '6']);
    const expectations = new Expectations({ clock: new VirtualClock(), onExpired: () => undefined });
    expectations.wrote('b/db', made, podIn('b', 'new', 66));
    expect(expectations.caughtUp('b/db')).toBe(false);
    made.put(podIn('b', 'new', 66));
    expect(expectations.caughtUp('b/db')).toBe(true);
  });
});
