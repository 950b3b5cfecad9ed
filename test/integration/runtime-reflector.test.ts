import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { keyOf, type Secret } from '../../src/kube/object.ts';
import { secrets } from '../../src/kube/resource.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Reflector, whenSynced } from '../../src/runtime/reflector.ts';
import { kubeconfigPath, type TestAccess, testAccess } from '../support/kube-connection.ts';
import { tunnelTo } from '../support/tunnel.ts';
import { until } from '../support/until.ts';

let access: TestAccess;
beforeAll(async () => {
  access = await testAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

/** Creates, patches, deletes and recreates Secrets under the same names until `signal` is aborted. */
async function churn(signal: AbortSignal): Promise<void> {
  const { client, namespace } = access;
  for (let i = 0; !signal.aborted; i++) {
    const at = { namespace, name: `churn-${i % 7}` };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: at };
    await client.remove(secrets, at).catch(() => undefined);
    await client.create(secrets, secret);
    await client.patch(secrets, at, { type: 'merge', body: { metadata: { labels: { i: `${i}` } } } });
    if (i % 5 === 0) await client.remove(secrets, at);
    await sleep(5);
  }
}

describe('a reflector of a real server', () => {
  it('misses no change and repeats none while its connection breaks again and again', async () => {
    const { namespace, client } = access;
    await using tunnel = await tunnelTo(kubeconfigPath());
    const connection = connectTo(tunnel.access, { userAgent: 'integration-test', pingMillis: 100 });
    const failures: string[] = [];
    const reflector = new Reflector<Secret>({
      client: new HttpKubeClient(connection, { fieldManager: 'integration-test' }),
      resource: secrets,
      namespace,
      clock: systemClock,
      onFailure: ({ kind }) => failures.push(kind),
      backoff: { firstSeconds: 0.05, mostSeconds: 0.2 },
      pageSize: 3,
    });
    const mirror = new Map<string, string>();
    const wrong: string[] = [];
    reflector.store.onChange(({ type, object: { metadata } }) => {
      const key = keyOf(metadata);
      const known = mirror.get(key);
      if (type === 'added' ? known !== undefined : known !== metadata.uid) wrong.push(`${type} ${key} after ${known}`);
      if (type === 'deleted') mirror.delete(key);
      else mirror.set(key, metadata.uid);
    });
    const [stop, still] = [new AbortController(), new AbortController()];
    const running = reflector.run(stop.signal);
    await whenSynced([reflector], stop.signal);
    const churning = churn(still.signal);
    // A break while the reflector is dialling causes no failure and does not count.
    for (let round = 0; round < 12 || failures.length < 6; round++) {
      await sleep(250);
      if (round % 3 === 2) tunnel.cut();
      else tunnel.reset();
    }
    still.abort();
    await churning;

    const { items } = await client.list(secrets, { namespace });
    const wanted = items.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).sort();
    const held = (): string[] =>
      reflector.store
        .all()
        .map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`)
        .sort();
    await until(
      'the store equals the list of the server',
      async () => (held().join() === wanted.join() ? true : undefined),
      {
        seconds: 60,
      },
    );
    expect(wrong).toEqual([]);
    expect(mirror.size).toBe(items.length);
    expect(failures.length).toBeGreaterThanOrEqual(6);
    expect(new Set(failures)).toEqual(new Set(['unreachable']));
    stop.abort();
    await running;
    await connection.close();
  });
});
