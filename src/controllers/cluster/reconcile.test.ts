import { describe, expect, it } from 'vitest';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { clusterReconciler } from './reconcile.ts';
import type { Tools } from './sources.ts';

/** What it says of a cluster without TLS is no matter of these tests. */
const annotations = { 'etcd.database.coreos.com/allow-plaintext': 'true' };

const object = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations },
  spec: { size: 1, version: '3.5.35' },
  status: { bootstrap: { members: ['db-0'], token: 't' } },
};

const none: object = {};
const anothers = { 'etcd.database.coreos.com/scope': 'wide' };
const metadataOf = (ours: boolean) => (ours ? {} : { metadata: { ...object.metadata, annotations: anothers } });

const unreadable = (failure: Failure) => ({
  by: () => {
    throw failure;
  },
});

/** A watch in which every pass has taken steps for this long. */
const watchedFor = (millis: number) => ({
  see: (_: string, { carriers, membership }: { carriers: unknown; membership: unknown }) => ({ carriers, membership }),
  seeKept: () => new Map(),
  seeSteps: () => millis,
  oldAlarms: { added: async () => undefined },
});

const usual = {
  ...{ fails: 'pods', status: none, leads: true, pod: none, ours: true, caughtUp: true },
  ...{ toldAgo: 99, actingFor: 0, blind: false },
};

/** A pass over a cluster whose first pod is to be made, where that fails; or that has no disks, and this pod which no copy shows. */
async function passWhere(failure: Failure, given: Partial<typeof usual> = {}) {
  const { fails, status, leads, pod, ours, caughtUp, toldAgo, actingFor, blind } = { ...usual, ...given };
  const nothing = { by: () => [], get: () => undefined };
  const claims = {
    by: () => (pod === none ? [{ metadata: { name: 'db-0', uid: 'claim', ownerReferences: [{ uid: 'u' }] } }] : []),
    get: () => undefined,
  };
  const told: object[] = [];
  const events: object[] = [];
  const made: string[] = [];
  const writer = {
    create: async ({ plural }: Resource<KubeObject>) => {
      if (plural === fails) throw failure;
      made.push(plural);
    },
    patch: async (resource: Resource<KubeObject> | undefined, _: unknown, { body }: { body: object }) => {
      if (resource?.plural === fails && fails === 'persistentvolumeclaims') throw failure;
      told.push(body);
    },
  };
  const tools = {
    ...{ dialect: coreos, isOurs: () => ours, caughtUp: () => caughtUp, toldAgo: () => toldAgo, writer: () => writer },
    caches: {
      clusters: { get: () => ({ ...object, ...metadataOf(ours), status: { ...object.status, ...status } }) },
      pods: blind ? unreadable(failure) : nothing,
      claims,
      services: nothing,
      budgets: undefined,
    },
    ...{ now: () => new Date(0), randomName: String, log: () => undefined },
    tell: (_: unknown, news: object) => void events.push(news),
    ...{ tidied: new Map(), keepsSecrets: false, dropsSecrets: false, leads: () => leads },
    client: { get: async () => pod },
    watched: watchedFor(actingFor),
    etcd: { keepOnly: () => {} },
  };
  const outcome = await clusterReconciler(tools as unknown as Tools)('default/db', new AbortController().signal);
  return { outcome, made, events, told: JSON.stringify(told) };
}

describe('a pass whose step fails', () => {
  it('tells what an API server cannot do, and waits longer each time', async () => {
    const says = 'create pods default/db-0: Internal error occurred: failed calling webhook "sidecars"';
    const { outcome, told, events } = await passWhere(new ApiFailure('unreachable', says));
    expect(outcome).toMatchObject({ is: 'failed' });
    expect(told).toContain('failed calling webhook');
    expect(events).toEqual([{ type: 'Warning', reason: 'StepFailed', message: says }]);
  });

  it.each([new ApiFailure('conflict', 'somebody wrote first'), new Failure('unreachable', 'etcd: unhealthy cluster')])(
    'looks again soon, and says nothing, where that is all it takes: %s',
    async (failure) => {
      const { outcome, told, events } = await passWhere(failure);
      expect(outcome).toMatchObject({ is: 'again' });
      expect(told).not.toContain(failure.message);
      expect(events).toEqual([]);
    },
  );

  it('heals a cluster that has formed, whatever stands in the way of its Services', async () => {
    const taken = new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' });
    const { made, told, events } = await passWhere(taken, { fails: 'services', status: { clusterId: 'c1' } });
    expect(made).toEqual(['pods']);
    expect(events).toMatchObject([{ reason: 'StepFailed', message: expect.stringContaining('Service db exists') }]);
    expect(told).toContain('Service db exists and does not belong to this cluster');
  });

  it('heals a cluster that has formed although its PVCs cannot be written, and reports that', async () => {
    const denied = new ApiFailure('unreachable', 'patch persistentvolumeclaims: failed calling webhook "storage"');
    const fails = 'persistentvolumeclaims';
    const { made, told, events } = await passWhere(denied, { fails, status: { clusterId: 'c1' } });
    expect(made).toContain('pods');
    expect(events).toMatchObject([{ reason: 'StepFailed', message: denied.message }]);
    expect(told).toContain('patch persistentvolumeclaims: failed calling webhook');
  });

  it('is not taken by who has stood still meanwhile and leads no more', async () => {
    const { outcome, made } = await passWhere(new Failure('bug', 'nobody is to get here'), { leads: false });
    expect(made).not.toContain('pods');
    expect(outcome).toMatchObject({ is: 'again' });
  });

  it('founds none where strangers have the names of its Services', async () => {
    const taken = new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' });
    const { made, told } = await passWhere(taken, { fails: 'services' });
    expect(made).toEqual([]);
    expect(told).toContain('Service db exists and does not belong to this cluster');
  });
});

describe('a step that is taken in pass after pass', () => {
  it('is published once that has gone on for some seconds', async () => {
    const status = { clusterId: 'c1', memberStatus: [{ name: 'db-0', id: '1', role: 'voter' }] };
    const failure = new Failure('bug', 'no pass gets here');
    const taking = { fails: 'nothing', status };
    const { made, told } = await passWhere(failure, { ...taking, actingFor: 1_000 });
    expect(made).toContain('pods');
    expect(told).not.toContain('Progressing');
    expect((await passWhere(failure, { ...taking, actingFor: 3_000 })).told).toContain('Progressing');
    expect((await passWhere(failure, { ...taking, actingFor: 3_000, toldAgo: 0.5 })).told).not.toContain('Progressing');
  });
});

describe('a pass that cannot observe', () => {
  const failure = new ApiFailure('unreachable', 'get replicasets default/db-0: Internal error');
  const status = { clusterId: 'c1', phase: 'Running', conditions: [{ type: 'Available', status: 'True' }] };

  it('fails, and publishes that it is not known whether the cluster is available', async () => {
    const { outcome, told, events, made } = await passWhere(failure, { blind: true, status });
    expect(outcome).toEqual({ is: 'failed', failure });
    expect(made).toEqual([]);
    const published = JSON.parse(told)[0].status;
    expect(published.conditions).toMatchObject([
      { type: 'Available', status: 'Unknown' },
      { type: 'Degraded', status: 'True', message: `the operator cannot observe the cluster: ${failure.message}` },
    ]);
    expect(published).toMatchObject({ clusterId: 'c1', phase: 'Running', bootstrap: object.status.bootstrap });
    expect(events).toEqual([{ type: 'Warning', reason: 'StepFailed', message: failure.message }]);
  });

  it('publishes nothing if the status was written less than a second ago, or the operator leads no more', async () => {
    expect(await passWhere(failure, { blind: true, status, toldAgo: 0.5 })).toMatchObject({ told: '[]' });
    const fenced = new Failure('conflict', 'this operator does not lead any more');
    expect(await passWhere(fenced, { blind: true, status })).toMatchObject({ told: '[]', outcome: { is: 'failed' } });
  });
});

describe('a pass over a cluster of another scope', () => {
  it('touches nothing, and says when nobody can be of that scope', async () => {
    const { outcome, made, told, events } = await passWhere(new Failure('bug', 'nobody is to get here'), {
      ours: false,
    });
    expect({ outcome, made, told }).toEqual({ outcome: { is: 'done' }, made: [], told: '[]' });
    expect(events).toMatchObject([{ type: 'Warning', reason: 'OutOfScope' }]);
  });
});

describe('a pass over members whose pods no copy shows', () => {
  it('gives them back their labels before it says that their data is lost', async () => {
    const status = { clusterId: 'c1', memberStatus: [{ name: 'db-0', id: '1', role: 'voter', health: 'healthy' }] };
    const pod = { metadata: { name: 'db-0', namespace: 'default', uid: 'pod', ownerReferences: [{ uid: 'u' }] } };
    const { told } = await passWhere(new Failure('bug', 'nobody is to get here'), { status, pod });
    expect(told).toContain('"labels":{"app":"etcd","etcd_cluster":"db","etcd_node":"db-0"}');
    expect(told).not.toContain('QuorumLost');
  });
});

describe('a pass on copies that do not show the last write of this operator yet', () => {
  it('does nothing, and looks again soon', async () => {
    const never = new Failure('bug', 'no pass gets here');
    const { outcome, made, told, events } = await passWhere(never, { caughtUp: false });
    expect({ made, told, events }).toEqual({ made: [], told: '[]', events: [] });
    expect(outcome).toMatchObject({ is: 'again', afterSeconds: expect.any(Number) });
  });
});
