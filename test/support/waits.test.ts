import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FakeAnswer, type FakeApiServer, fakeApiServer, json, line, refuse } from './fake-api-server.ts';
import { samplePod } from './sample-objects.ts';
import { condition, created, field, inSeconds, rolledOut, waitFor, waitForDeletion, watchUntil } from './waits.ts';

type Objects = readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];

const here = { namespace: 'here' };
const cluster = (status: object, generation = 1) => ({
  ...{ apiVersion: 'v1', kind: 'Any' },
  metadata: { name: 'db', uid: 'u', resourceVersion: '1', creationTimestamp: '', generation },
  status,
});

describe('a check', () => {
  it.each([
    [{ conditions: [{ type: 'Ready', status: 'True' }] }, 1, true],
    [{ conditions: [{ type: 'Ready', status: 'False' }] }, 1, false],
    [{ conditions: [{ type: 'Other', status: 'True' }] }, 1, false],
    [{ conditions: [{ type: 'Ready', status: 'True' }], observedGeneration: 1 }, 2, false],
    [{ conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }], observedGeneration: 1 }, 2, true],
    [{}, 1, false],
  ])('of a condition holds for the latest generation only: %j at generation %i', (status, generation, holds) => {
    expect(condition('Ready').holds(cluster(status, generation))).toBe(holds);
  });

  it('of a field holds for its value, or for any value if none is given', () => {
    const path = cluster({ upgradePath: ['3.5.35'], size: 3, succeeded: false });
    expect(field('.status.upgradePath[0]', '3.5.35').holds(path)).toBe(true);
    expect(field('.status.size', 3).holds(path)).toBe(true);
    expect(field('.status.succeeded', false).holds(path)).toBe(true);
    expect(field('.status.size', 30).holds(path)).toBe(false);
    expect(field('.status.upgradePath[1]', 'undefined').holds(path)).toBe(false);
    expect(field('.status.size').holds(path)).toBe(true);
    expect(field('.status.clusterId').holds(path)).toBe(false);
  });

  it.each([
    [{ observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, true],
    [{ observedGeneration: 0, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, false],
    [{ observedGeneration: 1, replicas: 2, updatedReplicas: 1, availableReplicas: 1 }, false],
    [{ observedGeneration: 1, replicas: 1, updatedReplicas: 1 }, false],
    [{ observedGeneration: 1 }, false],
  ])('of a rollout holds if no old pod is left and the new pods are available: %j', (status, holds) => {
    expect(rolledOut.holds({ ...cluster(status), spec: { replicas: 1 } } as never)).toBe(holds);
  });
});

describe('a wait', () => {
  let server: FakeApiServer;
  let answer: FakeAnswer = () => undefined;
  const directory = mkdtempSync(join(tmpdir(), 'waits-'));

  beforeAll(async () => {
    server = await fakeApiServer((response, request) => answer(response, request));
    const file = join(directory, 'kubeconfig');
    const config = {
      clusters: [{ name: 'fake', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'fake', user: {} }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
      'current-context': 'fake',
    };
    writeFileSync(file, JSON.stringify(config));
    vi.stubEnv('KUBECONFIG', file);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });

  const list = (items: Objects): object => ({ metadata: { resourceVersion: '7' }, items });
  /** Lists these objects, then sends the changes to a watch. */
  const serve = (items: Objects, ...changes: readonly string[]): void => {
    answer = (response, { query }) => {
      if (query.get('watch') === null) json(response, list(items));
      else if (query.get('resourceVersion') === '7') response.writeHead(200).write(changes.join(''));
    };
  };

  it('needs one list and one watch', async () => {
    const before = server.requests.length;
    serve([samplePod('other', 1)], line('ADDED', samplePod('a', 8)));
    const what = { what: 'a is there', answer: (pods: Objects) => pods.find((pod) => pod.metadata.name === 'a') };
    expect(await watchUntil(here, 'pods -l x=y', what)).toMatchObject({ metadata: { name: 'a' } });
    const asked = server.requests.slice(before);
    expect(asked).toHaveLength(2);
    for (const { query } of asked) expect(query.get('labelSelector')).toBe('x=y');
  });

  it('for one object selects it by name, and lists again after an expired resourceVersion', async () => {
    let lists = 0;
    answer = (response, { query }) => {
      expect(query.get('fieldSelector')).toBe('metadata.name=a');
      if (query.get('watch') !== null) return refuse(response, 410, 'Expired');
      return json(response, list(lists++ === 0 ? [] : [samplePod('a', 8)]));
    };
    await waitFor(here, 'pod/a', created);
    expect(lists).toBe(2);
  });

  it('for a deletion ends when the object is gone or has another UID', async () => {
    const successor = { ...samplePod('a', 9), metadata: { ...samplePod('a', 9).metadata, uid: 'another' } };
    const same = line('MODIFIED', samplePod('a', 8));
    serve([samplePod('a', 1)], same, line('MODIFIED', successor));
    await waitForDeletion(here, 'pod/a');
    serve([samplePod('a', 1)], same);
    await expect(waitForDeletion(here, 'pod/a', 0.05)).rejects.toMatchObject({ name: 'WaitTimeout' });
    serve([]);
    await waitForDeletion(here, 'pods -l x=y');
  });

  it('throws a WaitTimeout with the last state at its deadline', async () => {
    serve([samplePod('a', 1)], line('DELETED', samplePod('a', 8)), line('ADDED', samplePod('b', 9)));
    const never = waitFor(here, 'pods', {
      what: 'all are c',
      holds: ({ metadata }) => metadata.name === 'c',
      seconds: 0.5,
    });
    await expect(never).rejects.toMatchObject({
      name: 'WaitTimeout',
      message: expect.stringMatching(/not within 2 s: pods: all are c; last seen: \[ \{ name: 'b'/),
    });
  });

  it('throws the failed expectation if its last attempt had one', async () => {
    const isNot = ([pod]: Objects): undefined => expect(pod?.metadata.name).toBe('a') as undefined;
    serve([samplePod('b', 1)]);
    const wrong = watchUntil(here, 'pods', { what: 'it is a', answer: isNot, seconds: 0.5 });
    await expect(wrong).rejects.toMatchObject({ name: 'AssertionError', message: expect.stringContaining("'b'") });
  });

  it('throws a WaitTimeout if only an earlier attempt had a failed expectation', async () => {
    let asked = 0;
    const isNotAtFirst = (): undefined => (asked++ === 0 ? (expect(asked).toBe(0) as undefined) : undefined);
    serve([samplePod('b', 1)]);
    const late = watchUntil(here, 'pods', { what: 'never', answer: isNotAtFirst, seconds: 0.5 });
    await expect(late).rejects.toMatchObject({ name: 'WaitTimeout' });
    expect(asked).toBeGreaterThan(1);
  });

  it('for all objects with a label needs at least one object', async () => {
    serve([]);
    await expect(waitFor(here, 'pods -l x=y', inSeconds(0.05, created))).rejects.toMatchObject({ name: 'WaitTimeout' });
  });
});
