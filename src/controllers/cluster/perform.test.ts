import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, outOfContact, withCarrier, withMember } from '../../../test/support/worlds.ts';
import { claimAnnotation, claimMark } from '../../core/desired/claim.ts';
import type { Planes } from '../../core/desired/encryption.ts';
import type { MemberId } from '../../core/model/names.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

const victim = 'db-2';
describe('a change of the membership that was not answered', () => {
  const lost = new Failure('unreachable', 'the connection broke');
  const [name, because] = [nameOf(victim), 'dead'] as const;
  const id = 2n as MemberId;
  const steps = {
    removal: { kind: 'remove-member', id, name, because },
    addition: { kind: 'add-member', name, as: 'learner' },
    promotion: { kind: 'promote-member', id, name },
  } as const;
  const listed = (more: object): object => ({ id, peerURLs: [], isLearner: false, ...more });

  /** What becomes of it, when the others have this list. */
  function unanswered(change: keyof typeof steps, list: readonly object[] | Failure): Promise<void> {
    const world = aWorld(withCarrier(victim, { disk: 'lost' }));
    const refuse = () => Promise.reject(lost);
    const connection = { memberRemove: refuse, memberAdd: refuse, memberPromote: refuse };
    const memberList = async (): Promise<readonly object[]> => {
      if (list instanceof Failure) throw list;
      return list;
    };
    const get = () => Promise.reject(new Failure('not-found', 'not there'));
    const observed = { world, connectionTo: () => ({ ...connection, memberList }) };
    const deed = { blueprint: { intent: world.intent }, observed, tools: { client: { get } } };
    return perform(steps[change], deed as unknown as Deed);
  }

  const peerURL = aWorld().intent.peerURLOf(name);

  it.each([
    { change: 'removal', list: [listed({ id: 1n })] },
    { change: 'addition', list: [listed({ peerURLs: [peerURL], isLearner: true })] },
    { change: 'promotion', list: [listed({})] },
  ] as const)('is done all the same if the others say so: a $change', async ({ change, list }) => {
    await expect(unanswered(change, list)).resolves.toBeUndefined();
  });

  it.each([
    { change: 'removal', list: [listed({ id: 1n }), listed({}), listed({ id: 3n })] },
    { change: 'addition', list: [listed({ id: 1n })] },
    { change: 'promotion', list: [listed({ isLearner: true })] },
    { change: 'removal', list: lost },
    { change: 'removal', list: [] },
  ] as const)('has failed if they say otherwise, or nothing: a $change', async ({ change, list }) => {
    await expect(unanswered(change, list)).rejects.toBe(lost);
  });
});

describe('a member that returns to its disk', () => {
  /** How it is made to listen to peers, when etcd's list and its claim say this of it. */
  async function listening(listed: string | undefined, noted: string | undefined): Promise<Planes['peer'] | undefined> {
    const seen = aWorld(withMember(victim, { peerURLs: listed === undefined ? [] : [`${listed}://there:2380`] }));
    const world = listed === undefined ? aWorld(outOfContact()) : seen;
    const asked: Planes[] = [];
    const annotations = noted === undefined ? {} : { 'p/peer-scheme': noted };
    const stop = new Failure('conflict', 'far enough');
    const deed = {
      blueprint: { intent: world.intent, naming: { prefix: 'p', versionAnnotation: 'v' }, template: {} },
      observed: {
        world,
        podWith: () => undefined,
        planes: { peer: 'encrypted', client: 'plain' },
        blueprintFor: (planes: Planes) => {
          asked.push(planes);
          throw stop;
        },
      },
      writer: { patch: async () => undefined },
      tools: { caches: { claims: { get: () => ({ metadata: { annotations } }) } } },
    };
    const step = { kind: 'start-carrier', name: nameOf(victim), join: { as: 'returner' }, version: '3.5.35' } as const;
    await expect(perform(step, deed as unknown as Deed)).rejects.toBe(stop);
    return asked[0]?.peer;
  }

  it('listens where the others look for it, whatever its claim says', async () => {
    expect(await listening('http', 'https')).toBe('between');
    expect(await listening('https', 'http')).toBe('encrypted');
  });

  it('listens as its claim says where nobody can be asked', async () => {
    expect(await listening(undefined, 'http')).toBe('between');
    expect(await listening(undefined, undefined)).toBe('encrypted');
  });
});

describe('a disk that is there under the name of a member that is started', () => {
  const read = improbable.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { replicas: 1 } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;

  /** Starts the first member where a claim with these labels is there; gives back what is created. */
  async function starting(
    labels: Readonly<Record<string, string>>,
    more: object = {},
    phase = 'Bound',
  ): Promise<readonly string[]> {
    const created: string[] = [];
    const create = async ({ plural, kind }: { plural: string; kind: string }): Promise<void> => {
      if (plural === 'persistentvolumeclaims')
        throw new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' });
      created.push(kind);
    };
    const get = async (): Promise<object> => ({ metadata: { labels, name: 'db-0', ...more }, status: { phase } });
    const remove = async (_: unknown, { name }: { name: string }): Promise<void> => void removed.push(name);
    const caches = { claims: { get: () => undefined }, clusters: { get: () => undefined } };
    const tools = { client: { get }, caches, now: () => new Date('2026-01-01T00:00:30Z') };
    const observed = { world: aWorld(), podWith: () => undefined };
    const deed = { blueprint, observed, tools, writer: { create, remove }, signal: new AbortController().signal };
    const name = nameOf('db-0');
    const join = { as: 'founder', of: { members: [name], token: 't' } } as const;
    await perform({ kind: 'start-carrier', name, join, version: '3.6.16' }, deed as unknown as Deed);
    return created;
  }

  const removed: string[] = [];
  const labels = { ...blueprint.naming.clusterLabels, [blueprint.naming.memberLabel]: 'db-0' };

  it('is used if it is for that member', async () => {
    expect(await starting(labels)).toEqual(['Pod']);
  });

  it.each([[{}], [{ ...labels, [blueprint.naming.memberLabel]: 'db-1' }]])(
    'is not used if it has %j',
    async (others) => {
      const message = 'PersistentVolumeClaim db-0 exists and is not for this member: delete or rename it';
      await expect(starting(others)).rejects.toMatchObject({ kind: 'rejected', message });
    },
  );

  it.each([
    [{ deletionTimestamp: '2026-01-01T00:00:00Z' }],
    [{ ownerReferences: [{ ...blueprint.owner, uid: 'of the one before' }] }],
  ])('is waited out if it goes with a cluster of the same name: %j', async (metadata) => {
    await expect(starting(labels, metadata)).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('is told if it should have gone long ago', async () => {
    const message = expect.stringMatching(/^PersistentVolumeClaim db-0 of a cluster .* does not go/);
    const going = starting(labels, { deletionTimestamp: '2025-12-31T23:59:00Z' });
    await expect(going).rejects.toMatchObject({ kind: 'rejected', message });
  });

  it.each([[{ ownerReferences: [blueprint.owner] }], [{ ownerReferences: [{ kind: 'Backup', name: 'a', uid: 'b' }] }]])(
    'is used whoever else owns it: %j',
    async (metadata) => {
      expect(await starting(labels, metadata)).toEqual(['Pod']);
    },
  );

  it('makes room if it is of another kind and there has never been a volume behind it, and only then', async () => {
    const marked = (mark: string) => ({ annotations: { [claimAnnotation(blueprint.naming)]: mark } });
    await expect(starting(labels, marked('another'), 'Pending')).rejects.toMatchObject({ kind: 'conflict' });
    expect(removed.splice(0)).toEqual(['db-0']);
    expect(await starting(labels, marked('another'), 'Bound')).toEqual(['Pod']);
    expect(await starting(labels, marked(claimMark(blueprint.template)), 'Pending')).toEqual(['Pod']);
    expect(await starting(labels, {}, 'Pending')).toEqual(['Pod']);
    expect(removed).toEqual([]);
  });
});

describe('what no member stands for goes with its disk, where none are kept', () => {
  const [prefix, spec] = ['etcd.improbable.io', { replicas: 3, keepRemovedVolumesSeconds: 0 }];

  /** What is deleted of a name that etcd does not list, and whose claim has these annotations. */
  async function discarding(annotations: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const read = improbable.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const removed: string[] = [];
    const labels = { [read.value.blueprint.naming.memberLabel]: 'db-3' };
    const claim = { metadata: { name: 'db-3', uid: 'uid-of-claim', labels, annotations } };
    const by = (index: string) => (index === 'cluster' ? [claim] : []);
    const deed = {
      blueprint: read.value.blueprint,
      observed: { world: aWorld(), podWith: () => undefined, connectionTo: () => ({ memberList: async () => [] }) },
      tools: { caches: { claims: { get: () => claim, by } } },
      writer: { remove: async ({ plural }: { plural: string }) => void removed.push(plural) },
    };
    const step = { kind: 'discard-carrier', name: nameOf('db-3'), uid: 'uid-of-pod' } as const;
    await perform(step, deed as unknown as Deed);
    return removed;
  }

  it('where the disk was of this cluster, or was made for it', async () => {
    expect(await discarding({ [`${prefix}/cluster-id`]: 'c1' })).toEqual(['pods', 'persistentvolumeclaims']);
    expect(await discarding({ [`${prefix}/claim`]: 'kind' })).toEqual(['pods', 'persistentvolumeclaims']);
  });

  it('and without it where it was of another, or nobody knows of which', async () => {
    expect(await discarding({ [`${prefix}/cluster-id`]: 'c2', [`${prefix}/claim`]: 'kind' })).toEqual(['pods']);
    expect(await discarding({})).toEqual(['pods']);
  });
});
