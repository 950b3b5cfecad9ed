import { describe, expect, it } from 'vitest';
import { aClaim, readOf, stored } from '../../../../../test/support/upkeep-worlds.ts';
import { nameOf } from '../../../../../test/support/worlds.ts';
import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import { peerService } from '../../../../core/manifests/services.ts';
import { ApiFailure } from '../../../../kube/errors.ts';
import { namespaced } from '../../../../kube/resource.ts';
import { Failure } from '../../../../std/failure.ts';
import type { UpkeepContext } from './context.ts';
import { performUpkeep } from './perform-upkeep.ts';

const { blueprint, peers: objects } = readOf({ replicas: 1 });

/** Performs a step, and returns its writes and Events. `refuse` decides which writes fail. */
async function performed(
  step: UpkeepStep,
  refuse: (write: string, body: object) => Failure | undefined = () => undefined,
) {
  const done: unknown[] = [];
  const events: string[] = [];
  const write = async (what: string, body: object): Promise<void> => {
    const failure = refuse(what, body);
    if (failure !== undefined) throw failure;
    done.push([what, body]);
  };
  const writer: UpkeepContext['writer'] = {
    create: ({ plural }, { metadata }) => write(`create ${plural} ${metadata.name}`, metadata),
    patch: ({ plural }, { name }, { body }) => write(`patch ${plural} ${name}`, body),
    remove: ({ plural }, { name }, { preconditions }) => write(`remove ${plural} ${name}`, preconditions),
  };
  const resource = namespaced({ group: 'g', version: 'v', plural: 'etcdpeers', kind: 'EtcdPeer' });
  const controller = {
    caches: { clusters: { get: () => ({}) } },
    recordEvent: (_: unknown, { message }: { message: string }) => void events.push(message),
    peers: { resource },
  };
  const context = { cluster: { namespace: 'default', name: 'db' }, controller, writer };
  await performUpkeep(step, { ...context, signal: new AbortController().signal } as unknown as UpkeepContext);
  return { done, events };
}

const why = 'a test';
const rejected = new Failure('rejected', 'a volume can grow but not shrink');

describe('a missing Service', () => {
  const step: UpkeepStep = { kind: 'create-object', object: peerService(blueprint), why };

  it('is created', async () => {
    expect((await performed(step)).done).toMatchObject([['create services db', {}]]);
  });

  it('is reported as a name conflict if a Service without labels has its name', async () => {
    const taken = new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' });
    await expect(performed(step, () => taken)).rejects.toMatchObject({
      kind: 'rejected',
      message: 'Service db exists and does not belong to this cluster: rename one of the two',
    });
  });
});

it('a changed Service is patched with its UID as a precondition', async () => {
  const step = {
    kind: 'correct-object',
    of: 'Service',
    name: 'db',
    uid: 'u',
    labels: { a: 'b' },
    spec: {},
    why,
  } as const;
  const body = { metadata: { uid: 'u', labels: { a: 'b' } }, spec: {} };
  expect((await performed(step)).done).toEqual([['patch services db', body]]);
});

it('a PodDisruptionBudget is deleted with UID and resourceVersion as preconditions, and may be gone', async () => {
  const step = { kind: 'delete-budget', name: 'db', uid: 'u', resourceVersion: '7', why } as const;
  expect((await performed(step)).done).toEqual([
    ['remove poddisruptionbudgets db', { uid: 'u', resourceVersion: '7' }],
  ]);
  expect((await performed(step, () => new Failure('not-found', 'no'))).done).toEqual([]);
});

describe('an EtcdPeer', () => {
  const wanted = objects?.wanted({ name: nameOf('db-0'), version: '3.5.35', join: { as: 'restarting' } }, []);
  if (wanted === undefined) throw new Error('no EtcdPeers');
  const correction = (mayRecreate: boolean): UpkeepStep => ({
    kind: 'correct-peer',
    ...{ peer: stored(wanted), spec: { new: true }, mayRecreate, why },
  });
  const refusal = (write: string) => (write.startsWith('patch') ? rejected : undefined);

  it('is recreated if the API server rejects a correction', async () => {
    expect((await performed(correction(true), refusal)).done).toMatchObject([
      ['remove etcdpeers db-0', { uid: 'uid-of-db-0', resourceVersion: '1' }],
      ['create etcdpeers db-0', { labels: wanted.metadata.labels, ownerReferences: [blueprint.owner] }],
    ]);
  });

  it('is not recreated before the cluster is adopted', async () => {
    await expect(performed(correction(false), refusal)).rejects.toBe(rejected);
  });

  it('keeps its finalizer if its PVC cannot be annotated', async () => {
    const record = { claim: 'db-0', uid: 'c', annotations: { a: 'b' } };
    const step = { kind: 'release-peer', name: 'db-0', uid: 'u', finalizers: [], record, why } as const;
    expect((await performed(step)).done).toEqual([
      ['patch persistentvolumeclaims db-0', { metadata: { uid: 'c', annotations: { a: 'b' } } }],
      ['patch etcdpeers db-0', { metadata: { uid: 'u', finalizers: [] } }],
    ]);
    const refused = performed(step, (write) => (write.includes('claims') ? rejected : undefined));
    await expect(refused).rejects.toBe(rejected);
  });

  it('may exist already', async () => {
    const taken = new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' });
    expect((await performed({ kind: 'create-peer', peer: wanted, why }, () => taken)).done).toEqual([]);
  });
});

describe('a PVC that is too small', () => {
  const { uid } = aClaim('db-0').metadata;
  const step = { kind: 'grow-volume', claim: 'db-0', uid, storage: '2Gi', refused: { no: '2Gi' }, why } as const;
  const grown = { metadata: { uid }, spec: { resources: { requests: { storage: '2Gi' } } } };
  const forbidden = (cause: string) => new Failure('forbidden', `persistentvolumeclaims "db-0" is forbidden: ${cause}`);
  const refusing = (failure: Failure) => (_: string, body: object) => ('spec' in body ? failure : undefined);

  it('is resized', async () => {
    expect((await performed(step)).done).toEqual([['patch persistentvolumeclaims db-0', grown]]);
  });

  it('is annotated if its StorageClass allows no expansion', async () => {
    const refusal = forbidden(
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
    const noted = { metadata: { uid, annotations: { no: '2Gi' } } };
    expect((await performed(step, refusing(refusal))).done).toEqual([['patch persistentvolumeclaims db-0', noted]]);
  });

  it.each([
    forbidden('exceeded quota: storage'),
    forbidden('maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi'),
    forbidden('ValidatingAdmissionPolicy "sizes" denied request: at most 1Gi'),
    new Failure('rejected', 'admission webhook "policy.example.com" denied the request'),
    new Failure('rejected', 'spec.resources.requests.storage: Forbidden: field can not be less than previous value'),
  ])('is not annotated after another refusal: %s', async (refusal) => {
    await expect(performed(step, refusing(refusal))).rejects.toBe(refusal);
  });
});

it('restored labels are reported as an Event', async () => {
  const step = { kind: 'restore-labels', of: 'Pod', name: 'db-0', uid: 'u', labels: { a: 'b' }, why: 'lost' } as const;
  expect(await performed(step)).toEqual({
    done: [['patch pods db-0', { metadata: { uid: 'u', labels: { a: 'b' } } }]],
    events: ['lost: the operator restored them'],
  });
});
