import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type FakeApiServer,
  type FakeRequest,
  fakeApiServer,
  json,
  line,
  refuse,
} from '../../test/support/fake-api-server.ts';
import { samplePod } from '../../test/support/sample-objects.ts';
import { until } from '../../test/support/until.ts';
import { anonymousAccess } from '../kube/config.ts';
import { type Connection, connectTo } from '../kube/connection.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import type { Pod } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import type { Failure } from '../std/failure.ts';
import { systemClock } from './clock.ts';
import { Reflector, type ReflectorOptions, whenSynced } from './reflector.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function runUntilTestEnds(reflector: Reflector<Pod>, connection: Connection, server: FakeApiServer): AbortController {
  const stop = new AbortController();
  const ended = reflector.run(stop.signal);
  cleanups.push(async () => {
    stop.abort();
    await ended;
    await connection.close();
    await server[Symbol.asyncDispose]();
  });
  return stop;
}

interface Running {
  readonly server: FakeApiServer;
  readonly reflector: Reflector<Pod>;
  readonly failures: Failure[];
  readonly changes: string[];
  readonly lists: () => number;
  readonly watchedFrom: () => string[];
}

/** A reflector of a server that lists one pod at version 5; `watches[n]` answers the n-th watch. */
async function running(
  watches: ((response: ServerResponse, request: FakeRequest) => void)[],
  options: Partial<ReflectorOptions<Pod>> = {},
): Promise<Running> {
  let watched = 0;
  const server = await fakeApiServer((response, request) => {
    if (!request.query.has('watch'))
      return json(response, { metadata: { resourceVersion: '5' }, items: [samplePod('a', 3)] });
    response.setHeader('content-type', 'application/json');
    const watch = watches[watched++];
    if (watch === undefined) return response.flushHeaders();
    return watch(response, request);
  });
  const connection = connectTo(anonymousAccess(server.url), { userAgent: 'test' });
  const failures: Failure[] = [];
  const changes: string[] = [];
  const reflector = new Reflector<Pod>({
    client: new HttpKubeClient(connection, { fieldManager: 'test' }),
    resource: pods,
    clock: systemClock,
    onFailure: (failure) => failures.push(failure),
    backoff: { firstSeconds: 0.01, mostSeconds: 0.05 },
    ...options,
  });
  reflector.store.onChange(({ type, object }) =>
    changes.push(`${type} ${object.metadata.name}@${object.metadata.resourceVersion}`),
  );
  const stop = runUntilTestEnds(reflector, connection, server);
  await whenSynced([reflector], stop.signal);
  const requests = (isWatch: boolean): FakeRequest[] =>
    server.requests.filter(({ query }) => query.has('watch') === isWatch);
  return {
    server,
    reflector,
    failures,
    changes,
    lists: () => requests(false).length,
    watchedFrom: () => requests(true).map(({ query }) => query.get('resourceVersion') ?? ''),
  };
}

const truly = (what: string, is: () => boolean): Promise<boolean> =>
  until(what, async () => is() || undefined, { seconds: 5 });

describe('a reflector', () => {
  it('lists, then watches from that version with bookmarks, and stores the events', async () => {
    const { reflector, changes, watchedFrom, server } = await running([
      (response) => {
        response.write(line('ADDED', samplePod('b', 6)) + line('MODIFIED', samplePod('a', 7)));
        response.write(line('DELETED', samplePod('b', 8)) + line('BOOKMARK', samplePod('', 20)));
      },
    ]);
    await truly('all events are in the store', () => reflector.store.versionIn(undefined) === '20');
    expect(changes).toEqual(['added a@3', 'added b@6', 'updated a@7', 'deleted b@8']);
    expect(watchedFrom()).toEqual(['5']);
    expect(server.requests.at(-1)?.query.get('allowWatchBookmarks')).toBe('true');
    expect(Number(server.requests.at(-1)?.query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(300);
  });

  it('continues from the last bookmark when the server ends the watch, without a new list', async () => {
    const { watchedFrom, lists, failures } = await running([
      (response) => void response.end(line('BOOKMARK', samplePod('', 20))),
    ]);
    await truly('the reflector watches again', () => watchedFrom().length === 2);
    expect(watchedFrom()).toEqual(['5', '20']);
    expect(lists()).toBe(1);
    expect(failures).toEqual([]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    [
      'an event in the watch',
      (response) => void response.end(line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })),
    ],
    ['the answer to the watch', (response) => refuse(response, 410, 'Expired')],
    ['an answer without a reason', (response) => void response.writeHead(410).end()],
    ['a bookmark with an older version', (response) => void response.write(line('BOOKMARK', samplePod('', 4)))],
  ])('lists again when its version expired, reported by %s', async (_, watch) => {
    const { lists, watchedFrom, failures } = await running([watch]);
    await truly('the reflector watches again', () => watchedFrom().length === 2);
    expect(lists()).toBe(2);
    expect(failures).toMatchObject([{ kind: 'conflict' }]);
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['a server error', (response) => refuse(response, 500, 'broken'), /watch pods: it is broken/],
    ['too many requests', (response) => refuse(response, 429, 'busy'), /watch pods: it is busy/],
    ['an error event', (response) => void response.end(line('ERROR', { code: 500, message: 'no' })), /watch pods: no/],
    ['a connection that is reset', (response) => void response.destroy(), /watch pods: /],
    [
      'a connection that is reset in the middle of a line',
      (response) => void response.write('{"type":"ADD', () => response.destroy()),
      /watch pods: /,
    ],
    ['an end in the middle of a line', (response) => void response.end('{"type":"ADDED","obj'), /middle of a line/],
    ['a line that is not JSON', (response) => void response.write('{"type":"ADDED",}\n'), /not JSON/],
    ['a line that is not an event', (response) => void response.write('{"a":1}\n'), /not an event/],
    ['an unknown event', (response) => void response.write(line('STRANGE', {})), /unknown type STRANGE/],
  ])('continues from its last version after %s', async (_, fault, expected) => {
    const good = (response: ServerResponse): void => void response.write(line('ADDED', samplePod('c', 9)));
    const { failures, watchedFrom, lists, reflector } = await running([
      (response) => {
        response.end(line('MODIFIED', samplePod('a', 7)));
      },
      fault,
      good,
    ]);
    await truly('the third watch brings its pod', () => reflector.store.get('default/c') !== undefined);
    expect(failures.map(({ message }) => message)).toEqual([expect.stringMatching(expected)]);
    expect(failures[0]?.kind).toBe('unreachable');
    expect(watchedFrom()).toEqual(['5', '7', '7']);
    expect(lists()).toBe(1);
  });

  it('restarts an idle watch, and reports a restart, not a failure', async () => {
    const restarted: string[] = [];
    const options = { idleSeconds: 0.3, onRestart: (what: string) => void restarted.push(what) };
    const { watchedFrom, failures, lists } = await running([(response) => response.flushHeaders()], options);
    await truly('the reflector watches again', () => watchedFrom().length > 1);
    // The second watch is idle too, and may have been restarted meanwhile.
    expect([failures, [...new Set(restarted)], lists()]).toEqual([[], ['pods'], 1]);
  });

  it('lists again after five consecutive failures', async () => {
    const fail = (response: ServerResponse): void => refuse(response, 500, 'broken');
    const { lists, watchedFrom } = await running([fail, fail, fail, fail, fail]);
    await truly('the reflector watches again', () => watchedFrom().length === 6);
    expect(lists()).toBe(2);
  });

  it('backs off if the server ends every watch at once', async () => {
    const end = (response: ServerResponse): void => void response.end();
    const backoff = { firstSeconds: 0.2, mostSeconds: 10 };
    const { watchedFrom } = await running([end, end, end, end, end, end, end], { backoff });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(watchedFrom().length).toBeLessThanOrEqual(4);
  });

  it('trims objects from the list and from the watch', async () => {
    const trim: ReflectorOptions<Pod>['trim'] = (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { trimmed: 'yes' } },
    });
    const { reflector } = await running([(response) => void response.write(line('ADDED', samplePod('b', 6)))], {
      trim,
    });
    await truly('both pods are in the store', () => reflector.store.size === 2);
    expect(reflector.store.all().map(({ metadata }) => metadata.labels)).toEqual([
      { trimmed: 'yes' },
      { trimmed: 'yes' },
    ]);
  });

  it('drops managedFields by default', async () => {
    const managed = { ...samplePod('b', 6), metadata: { ...samplePod('b', 6).metadata, managedFields: [{}] } };
    const { reflector } = await running([(response) => void response.write(line('ADDED', managed))]);
    await truly('both pods are in the store', () => reflector.store.size === 2);
    expect(reflector.store.get('default/b')).toEqual(samplePod('b', 6));
  });

  it('continues after a handler throws', async () => {
    const { reflector, failures } = await running([
      (response) =>
        setTimeout(() => response.write(line('ADDED', samplePod('b', 6)) + line('ADDED', samplePod('c', 7))), 50),
    ]);
    reflector.store.onChange(({ object }) => {
      if (object.metadata.name === 'b') throw new Error('handler');
    });
    await truly('both pods are in the store', () => reflector.store.size === 3);
    expect(failures).toMatchObject([{ kind: 'bug' }]);
  });
});

describe('a list', () => {
  it('that fails is retried, and the reflector is not synced before the last page', async () => {
    let lists = 0;
    const server = await fakeApiServer((response, { query }) => {
      if (query.has('watch')) return response.flushHeaders();
      lists++;
      if (lists === 1) return refuse(response, 503, 'starting');
      if (!query.has('continue'))
        return json(response, { metadata: { resourceVersion: '5', continue: 'more' }, items: [samplePod('a', 1)] });
      if (lists === 3) return refuse(response, 410, 'Expired');
      return json(response, { metadata: { resourceVersion: '5' }, items: [samplePod('b', 2)] });
    });
    const connection = connectTo(anonymousAccess(server.url), { userAgent: 'test' });
    const failures: Failure[] = [];
    const reflector = new Reflector<Pod>({
      client: new HttpKubeClient(connection, { fieldManager: 'test' }),
      resource: pods,
      clock: systemClock,
      onFailure: (failure) => {
        expect(reflector.store.versionIn(undefined)).toBeUndefined();
        failures.push(failure);
      },
      backoff: { firstSeconds: 0.01, mostSeconds: 0.05 },
    });
    const stop = runUntilTestEnds(reflector, connection, server);
    expect(await whenSynced([reflector], stop.signal)).toBe(true);
    expect(reflector.store.all().map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(failures.map(({ kind }) => kind)).toEqual(['unreachable', 'conflict']);
  });
});
