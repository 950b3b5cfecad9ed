import { describe, expect, it } from 'vitest';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import type { ControllerContext } from '../shared/context.ts';
import { clusterReconciler } from './reconcile.ts';

/** No Event about missing TLS. */
const annotations = { 'etcd.database.coreos.com/allow-plaintext': 'true' };

const object = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations },
  spec: { size: 1, version: '3.5.35' },
  status: { bootstrap: { members: ['db-0'], token: 't' } },
};

const none: object = {};
const otherScope = { 'etcd.database.coreos.com/scope': 'wide' };
const metadataOf = (ours: boolean) => (ours ? {} : { metadata: { ...object.metadata, annotations: otherScope } });

const unreadable = (failure: Failure) => ({
  by: () => {
    throw failure;
  },
});

/** Durations with steps in every pass for this long. */
const watchedFor = (millis: number) => ({
  see: (_: string, { memberPods, membership }: { memberPods: unknown; membership: unknown }) => ({
    memberPods,
    membership,
  }),
  seeKept: () => new Map(),
  seeSteps: () => millis,
  oldAlarms: { addTo: async () => undefined },
});

const defaults = {
  ...{ fails: 'pods', status: none, leads: true, pod: none, ours: true, caughtUp: true },
  ...{ secondsSinceStatusWrite: 99, actingFor: 0, blind: false },
};

/**
 * A pass over a cluster whose first pod cannot be created; or over a cluster without PVCs, whose pod no cache shows.
 */
async function passWhere(failure: Failure, given: Partial<typeof defaults> = {}) {
  const { fails, status, leads, pod, ours, caughtUp, secondsSinceStatusWrite, actingFor, blind } = {
    ...defaults,
    ...given,
  };
  const nothing = { by: () => [], get: () => undefined };
  const claims = {
    by: () => (pod === none ? [{ metadata: { name: 'db-0', uid: 'claim', ownerReferences: [{ uid: 'u' }] } }] : []),
    get: () => undefined,
  };
  const patches: object[] = [];
  const events: object[] = [];
  const made: string[] = [];
  const writer = {
    create: async ({ plural }: Resource<KubeObject>) => {
      if (plural === fails) throw failure;
      made.push(plural);
    },
    patch: async (resource: Resource<KubeObject> | undefined, _: unknown, { body }: { body: object }) => {
      if (resource?.plural === fails && fails === 'persistentvolumeclaims') throw failure;
      patches.push(body);
    },
  };
  const context = {
    ...{
      dialect: coreos,
      isOurs: () => ours,
      caughtUp: () => caughtUp,
      secondsSinceStatusWrite: () => secondsSinceStatusWrite,
      writer: () => writer,
    },
    caches: {
      clusters: { get: () => ({ ...object, ...metadataOf(ours), status: { ...object.status, ...status } }) },
      pods: blind ? unreadable(failure) : nothing,
      claims,
      services: nothing,
      budgets: undefined,
    },
    ...{ now: () => new Date(0), randomName: String, log: () => undefined },
    recordEvent: (_: unknown, event: object) => void events.push(event),
    ...{ absentSecrets: new Map(), mayWriteSecrets: false, mayDeleteSecrets: false, leads: () => leads },
    client: { get: async () => pod },
    watched: watchedFor(actingFor),
    etcd: { keepOnly: () => {} },
  };
  const outcome = await clusterReconciler(context as unknown as ControllerContext)(
    'default/db',
    new AbortController().signal,
  );
  return { outcome, made, events, written: JSON.stringify(patches) };
}

describe('a pass with a failing step', () => {
  it('reports the failure of the API server, and backs off', async () => {
    const message = 'create pods default/db-0: Internal error occurred: failed calling webhook "sidecars"';
    const { outcome, written, events } = await passWhere(new ApiFailure('unreachable', message));
    expect(outcome).toMatchObject({ is: 'failed' });
    expect(written).toContain('failed calling webhook');
    expect(events).toEqual([{ type: 'Warning', reason: 'StepFailed', message }]);
  });

  it.each([
    new ApiFailure('conflict', 'the object has changed'),
    new Failure('unreachable', 'etcd: unhealthy cluster'),
  ])('is retried soon and not reported for a transient failure: %s', async (failure) => {
    const { outcome, written, events } = await passWhere(failure);
    expect(outcome).toMatchObject({ is: 'requeue' });
    expect(written).not.toContain(failure.message);
    expect(events).toEqual([]);
  });

  it('heals a formed cluster although its Services have a name conflict', async () => {
    const taken = new ApiFailure('conflict', 'exists', { reason: 'AlreadyExists' });
    const { made, written, events } = await passWhere(taken, { fails: 'services', status: { clusterId: 'c1' } });
    expect(made).toEqual(['pods']);
    expect(events).toMatchObject([{ reason: 'StepFailed', message: expect.stringContaining('Service db exists') }]);
    expect(written).toContain('Service db exists and does not belong to this cluster');
  });

  it('heals a formed cluster although its PVCs cannot be written, and reports that', async () => {
    const denied = new ApiFailure('unreachable', 'patch persistentvolumeclaims: failed calling webhook "storage"');
    const fails = 'persistentvolumeclaims';
    const { made, written, events } = await passWhere(denied, { fails, status: { clusterId: 'c1' } });
    expect(made).toContain('pods');
    expect(events).toMatchObject([{ reason: 'StepFailed', message: denied.message }]);
    expect(written).toContain('patch persistentvolumeclaims: failed calling webhook');
  });

  it('takes no step if the operator no longer leads', async () => {
    const { outcome, made } = await passWhere(new Failure('bug', 'unexpected call'), { leads: false });
    expect(made).not.toContain('pods');
    expect(outcome).toMatchObject({ is: 'requeue' });
  });

  it('bootstraps no cluster if its Services have a name conflict', async () => {
    const taken = new ApiFailure('conflict', 'exists', { reason: 'AlreadyExists' });
    const { made, written } = await passWhere(taken, { fails: 'services' });
    expect(made).toEqual([]);
    expect(written).toContain('Service db exists and does not belong to this cluster');
  });
});

describe('a step that is repeated in every pass', () => {
  it('is published after some seconds', async () => {
    const status = { clusterId: 'c1', memberStatus: [{ name: 'db-0', id: '1', role: 'voter' }] };
    const failure = new Failure('bug', 'unexpected call');
    const taking = { fails: 'nothing', status };
    const { made, written } = await passWhere(failure, { ...taking, actingFor: 1_000 });
    expect(made).toContain('pods');
    expect(written).not.toContain('Progressing');
    expect((await passWhere(failure, { ...taking, actingFor: 3_000 })).written).toContain('Progressing');
    expect(
      (await passWhere(failure, { ...taking, actingFor: 3_000, secondsSinceStatusWrite: 0.5 })).written,
    ).not.toContain('Progressing');
  });
});

describe('a pass that cannot observe', () => {
  const failure = new ApiFailure('unreachable', 'get replicasets default/db-0: Internal error');
  const status = { clusterId: 'c1', phase: 'Running', conditions: [{ type: 'Available', status: 'True' }] };

  it('fails, and publishes the condition Available as Unknown', async () => {
    const { outcome, written, events, made } = await passWhere(failure, { blind: true, status });
    expect(outcome).toEqual({ is: 'failed', failure });
    expect(made).toEqual([]);
    const published = JSON.parse(written)[0].status;
    expect(published.conditions).toMatchObject([
      { type: 'Available', status: 'Unknown' },
      { type: 'Degraded', status: 'True', message: `the operator cannot observe the cluster: ${failure.message}` },
    ]);
    expect(published).toMatchObject({ clusterId: 'c1', phase: 'Running', bootstrap: object.status.bootstrap });
    expect(events).toEqual([{ type: 'Warning', reason: 'StepFailed', message: failure.message }]);
  });

  it('publishes nothing if the status is younger than a second, or the operator no longer leads', async () => {
    expect(await passWhere(failure, { blind: true, status, secondsSinceStatusWrite: 0.5 })).toMatchObject({
      written: '[]',
    });
    const fenced = new Failure('conflict', 'this operator no longer holds the leader lease');
    expect(await passWhere(fenced, { blind: true, status })).toMatchObject({
      written: '[]',
      outcome: { is: 'failed' },
    });
  });
});

describe('a pass over a cluster of another scope', () => {
  it('writes nothing, and reports an unknown scope', async () => {
    const { outcome, made, written, events } = await passWhere(new Failure('bug', 'unexpected call'), {
      ours: false,
    });
    expect({ outcome, made, written }).toEqual({ outcome: { is: 'done' }, made: [], written: '[]' });
    expect(events).toMatchObject([{ type: 'Warning', reason: 'UnknownScope' }]);
  });
});

describe('a pass over members whose pods no cache shows', () => {
  it('restores pod labels instead of reporting lost data', async () => {
    const status = { clusterId: 'c1', memberStatus: [{ name: 'db-0', id: '1', role: 'voter', health: 'healthy' }] };
    const pod = { metadata: { name: 'db-0', namespace: 'default', uid: 'pod', ownerReferences: [{ uid: 'u' }] } };
    const { written } = await passWhere(new Failure('bug', 'unexpected call'), { status, pod });
    expect(written).toContain('"labels":{"app":"etcd","etcd_cluster":"db","etcd_node":"db-0"}');
    expect(written).not.toContain('QuorumLost');
  });
});

describe('a pass while the caches do not show the last write of this operator', () => {
  it('does nothing, and is repeated soon', async () => {
    const never = new Failure('bug', 'unexpected call');
    const { outcome, made, written, events } = await passWhere(never, { caughtUp: false });
    expect({ made, written, events }).toEqual({ made: [], written: '[]', events: [] });
    expect(outcome).toMatchObject({ is: 'requeue', afterSeconds: expect.any(Number) });
  });
});
