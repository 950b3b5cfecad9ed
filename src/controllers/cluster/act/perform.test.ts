import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, outOfContact, withMember, withMemberPod } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { MemberId } from '../../../core/cluster/model/names.ts';
import { claimAnnotation, volumeKindHash } from '../../../core/manifests/pvc.ts';
import { removedAtAnnotation } from '../../../core/manifests/removed-pvc.ts';
import type { TlsModes } from '../../../core/manifests/tls-mode.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import { Failure } from '../../../std/failure.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const victim = 'db-2';
describe('an unanswered membership change', () => {
  const lost = new Failure('unreachable', 'the connection broke');
  const [name, because] = [nameOf(victim), 'dead'] as const;
  const id = 2n as MemberId;
  const steps = {
    removal: { kind: 'remove-member', id, name, because },
    addition: { kind: 'add-member', name, as: 'learner' },
    promotion: { kind: 'promote-member', id, name },
  } as const;
  const listed = (more: object): object => ({ id, peerURLs: [], isLearner: false, ...more });

  /** Performs a change without an answer of the leader while the followers have this member list. */
  function unanswered(change: keyof typeof steps, list: readonly object[] | Failure): Promise<void> {
    const world = aWorld(withMemberPod(victim, { volume: 'lost' }));
    const refuse = () => Promise.reject(lost);
    const connection = { memberRemove: refuse, memberAdd: refuse, memberPromote: refuse };
    const memberList = async (): Promise<readonly object[]> => {
      if (list instanceof Failure) throw list;
      return list;
    };
    const get = () => Promise.reject(new Failure('not-found', 'not found'));
    const observed = { world, connectionTo: () => ({ ...connection, memberList }) };
    const context = { blueprint: { intent: world.intent }, observed, controller: { client: { get } } };
    return perform(steps[change], context as unknown as StepContext);
  }

  const peerURL = aWorld().intent.peerURLOf(name);

  it.each([
    { change: 'removal', list: [listed({ id: 1n })] },
    { change: 'addition', list: [listed({ peerURLs: [peerURL], isLearner: true })] },
    { change: 'promotion', list: [listed({})] },
  ] as const)('succeeds if the followers list it: a $change', async ({ change, list }) => {
    await expect(unanswered(change, list)).resolves.toBeUndefined();
  });

  it.each([
    { change: 'removal', list: [listed({ id: 1n }), listed({}), listed({ id: 3n })] },
    { change: 'addition', list: [listed({ id: 1n })] },
    { change: 'promotion', list: [listed({ isLearner: true })] },
    { change: 'removal', list: lost },
    { change: 'removal', list: [] },
  ] as const)('fails if the followers do not list it or do not answer: a $change', async ({ change, list }) => {
    await expect(unanswered(change, list)).rejects.toBe(lost);
  });
});

describe('a restarted member with a PVC', () => {
  /** The peer TLS mode of the pod, with this scheme in the member list and in the PVC annotation. */
  async function peerModeOf(
    listed: string | undefined,
    noted: string | undefined,
  ): Promise<TlsModes['peer'] | undefined> {
    const seen = aWorld(withMember(victim, { peerURLs: listed === undefined ? [] : [`${listed}://there:2380`] }));
    const world = listed === undefined ? aWorld(outOfContact()) : seen;
    const asked: TlsModes[] = [];
    const annotations = noted === undefined ? {} : { 'p/peer-scheme': noted };
    const stop = new Failure('conflict', 'far enough');
    const context = {
      blueprint: { intent: world.intent, naming: { prefix: 'p', versionAnnotation: 'v' }, template: {} },
      observed: {
        world,
        podWith: () => undefined,
        tlsModes: { peer: 'encrypted', client: 'plain' },
        blueprintFor: (tlsModes: TlsModes) => {
          asked.push(tlsModes);
          throw stop;
        },
      },
      writer: { patch: async () => undefined },
      controller: { caches: { claims: { get: () => ({ metadata: { annotations } }) } } },
    };
    const step = {
      kind: 'start-member-pod',
      name: nameOf(victim),
      join: { as: 'restarting' },
      version: '3.5.35',
    } as const;
    await expect(perform(step, context as unknown as StepContext)).rejects.toBe(stop);
    return asked[0]?.peer;
  }

  it('keeps the scheme of its registered peer URL', async () => {
    expect(await peerModeOf('http', 'https')).toBe('dual-mode');
    expect(await peerModeOf('https', 'http')).toBe('encrypted');
  });

  it('uses the scheme of its PVC annotation if etcd does not answer', async () => {
    expect(await peerModeOf(undefined, 'http')).toBe('dual-mode');
    expect(await peerModeOf(undefined, undefined)).toBe('encrypted');
  });
});

describe('an existing PVC with the name of a started member', () => {
  const read = improbable.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { replicas: 1 } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;

  /** Starts the first member while a PVC with these labels exists. Returns the created kinds. */
  async function starting(
    labels: Readonly<Record<string, string>>,
    more: object = {},
    phase = 'Bound',
  ): Promise<readonly string[]> {
    const created: string[] = [];
    const create = async ({ plural, kind }: { plural: string; kind: string }): Promise<void> => {
      if (plural === 'persistentvolumeclaims') throw new ApiFailure('conflict', 'exists', { reason: 'AlreadyExists' });
      created.push(kind);
    };
    const get = async (): Promise<object> => ({ metadata: { labels, name: 'db-0', ...more }, status: { phase } });
    const remove = async (...[, , { preconditions }]: [unknown, unknown, { preconditions: object }]): Promise<void> =>
      void removed.push(preconditions);
    const caches = { claims: { get: () => undefined }, clusters: { get: () => undefined } };
    const controller = { client: { get }, caches, now: () => new Date('2026-01-01T00:00:30Z') };
    const observed = { world: aWorld(), podWith: () => undefined };
    const context = {
      blueprint,
      observed,
      controller,
      writer: { create, remove },
      signal: new AbortController().signal,
    };
    const name = nameOf('db-0');
    const join = { as: 'bootstrap', of: { members: [name], token: 't' } } as const;
    await perform({ kind: 'start-member-pod', name, join, version: '3.6.16' }, context as unknown as StepContext);
    return created;
  }

  const removed: object[] = [];
  const labels = { ...blueprint.naming.clusterLabels, [blueprint.naming.memberLabel]: 'db-0' };

  it('is used if it has the labels of the member', async () => {
    expect(await starting(labels)).toEqual(['Pod']);
  });

  it.each([[{}], [{ ...labels, [blueprint.naming.memberLabel]: 'db-1' }]])(
    'is not used with the labels %j',
    async (others) => {
      const message = 'PersistentVolumeClaim db-0 exists and is not for this member: delete or rename it';
      await expect(starting(others)).rejects.toMatchObject({ kind: 'rejected', message });
    },
  );

  it.each([
    [{ deletionTimestamp: '2026-01-01T00:00:00Z' }],
    [{ ownerReferences: [{ ...blueprint.owner, uid: 'of the one before' }] }],
  ])('is waited for if it is deleted with a previous cluster: %j', async (metadata) => {
    await expect(starting(labels, metadata)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('is reported if its deletion is overdue', async () => {
    const message = expect.stringMatching(/^PersistentVolumeClaim db-0 of a previous cluster .* is not deleted/);
    const going = starting(labels, { deletionTimestamp: '2025-12-31T23:59:00Z' });
    await expect(going).rejects.toMatchObject({ kind: 'rejected', message });
  });

  it.each([[{ ownerReferences: [blueprint.owner] }], [{ ownerReferences: [{ kind: 'Backup', name: 'a', uid: 'b' }] }]])(
    'is used with any other owner: %j',
    async (metadata) => {
      expect(await starting(labels, metadata)).toEqual(['Pod']);
    },
  );

  it('is not used if it is kept for a removed member, even with the labels of a member', async () => {
    const annotations = { [removedAtAnnotation(blueprint.naming)]: '2026-01-01T00:00:00Z' };
    const message = expect.stringContaining('is kept for a removed member');
    await expect(starting(labels, { annotations })).rejects.toMatchObject({ kind: 'conflict', message });
  });

  it('is replaced only if it is of another kind and never had a volume', async () => {
    const [identity, annotation] = [{ uid: 'p', resourceVersion: '7' }, claimAnnotation(blueprint.naming)];
    const marked = (mark: string) => ({ ...identity, annotations: { [annotation]: mark } });
    await expect(starting(labels, marked('another'), 'Pending')).rejects.toMatchObject({ kind: 'conflict' });
    expect(removed.splice(0)).toEqual([identity]);
    expect(await starting(labels, marked('another'), 'Bound')).toEqual(['Pod']);
    expect(await starting(labels, marked(volumeKindHash(blueprint.template)), 'Pending')).toEqual(['Pod']);
    expect(await starting(labels, {}, 'Pending')).toEqual(['Pod']);
    expect(removed).toEqual([]);
  });
});

describe('an orphaned member pod, if no PVCs are kept', () => {
  const [prefix, spec] = ['etcd.improbable.io', { replicas: 3, keepRemovedVolumesSeconds: 0 }];

  /** Returns the deleted kinds of an orphaned member pod whose PVC has these annotations. */
  async function discarding(annotations: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const read = improbable.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const removed: string[] = [];
    const labels = { [read.value.blueprint.naming.memberLabel]: 'db-3' };
    const claim = { metadata: { name: 'db-3', uid: 'uid-of-claim', labels, annotations } };
    const by = (index: string) => (index === 'cluster' ? [claim] : []);
    const context = {
      blueprint: read.value.blueprint,
      observed: { world: aWorld(), podWith: () => undefined, connectionTo: () => ({ memberList: async () => [] }) },
      controller: { caches: { claims: { get: () => claim, by } } },
      writer: { remove: async ({ plural }: { plural: string }) => void removed.push(plural) },
    };
    const step = { kind: 'delete-member-pod', name: nameOf('db-3'), uid: 'uid-of-pod' } as const;
    await perform(step, context as unknown as StepContext);
    return removed;
  }

  it('is deleted with its PVC if the PVC belongs to this cluster or was made for it', async () => {
    expect(await discarding({ [`${prefix}/cluster-id`]: 'c1' })).toEqual(['pods', 'persistentvolumeclaims']);
    expect(await discarding({ [`${prefix}/pvc-template-hash`]: 'kind' })).toEqual(['pods', 'persistentvolumeclaims']);
  });

  it('is deleted without its PVC if the PVC belongs to another or an unknown cluster', async () => {
    expect(await discarding({ [`${prefix}/cluster-id`]: 'c2', [`${prefix}/pvc-template-hash`]: 'kind' })).toEqual([
      'pods',
    ]);
    expect(await discarding({})).toEqual(['pods']);
  });
});

it('a pod is stopped only in the observed state', async () => {
  const world = aWorld();
  const pod = { metadata: { namespace: 'default', name: 'db-0', uid: 'u', resourceVersion: '7' } };
  const preconditions: unknown[] = [];
  const remove = async (...[, , options]: [unknown, unknown, { preconditions: object }]): Promise<void> =>
    void preconditions.push(options.preconditions);
  const observed = { world, podWith: () => pod };
  const context = { blueprint: { intent: world.intent }, observed, controller: {}, writer: { remove } };
  await perform({ kind: 'stop-member-pod', name: nameOf('db-0'), uid: 'u' }, context as unknown as StepContext);
  expect(preconditions).toEqual([{ uid: 'u', resourceVersion: '7' }]);
});
