import { describe, expect, it } from 'vitest';
import { aWorld, durable, nameOf, withIntent, withMember } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { EtcdFailure } from '../../../etcd/errors.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const name = nameOf('db-1');
const volume = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.5.35', pod: { persistentVolumeClaimSpec: volume } },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

interface Around {
  readonly world?: ClusterWorld;
  readonly leads?: boolean;
  readonly memberAdd?: () => Promise<unknown>;
}

/** Performs a step. Returns the writes, each with the plural of its resource. */
async function writesOf(step: Step, { world = aWorld(durable()), leads = true, memberAdd }: Around = {}) {
  const writes: (readonly [string, object])[] = [];
  const patch = async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) =>
    void writes.push([plural, body]);
  const create = async ({ plural }: { plural: string }, object: object) => void writes.push([plural, object]);
  const remove = async ({ plural }: { plural: string }, _: unknown, options: object) =>
    void writes.push([plural, options]);
  const pod = { metadata: { name, uid: 'pod', annotations: {} }, spec: { containers: [{ name: 'etcd' }] } };
  const add = async (): Promise<void> => void writes.push(['members', {}]);
  const etcd = { downgrade: async () => undefined, memberList: async () => [], memberAdd: memberAdd ?? add };
  const context = {
    blueprint: { ...blueprint, intent: { ...blueprint.intent, peerURLOf: world.intent.peerURLOf } },
    observed: {
      ...{ world, connectionTo: () => etcd, podWith: () => pod, blueprintFor: () => blueprint },
      tlsModes: { peer: 'plain', client: 'plain' },
    },
    controller: {
      ...{ now: () => new Date(0), leads: () => leads },
      client: { get: async () => pod },
      caches: { claims: { get: () => ({ metadata: { uid: 'claim', annotations: {} } }) } },
    },
    writer: { patch, create, remove },
    signal: new AbortController().signal,
  };
  await perform(step, context as unknown as StepContext);
  return writes;
}

const upgrade: Step = { kind: 'change-image', name, uid: 'pod', from: '3.5.35', to: '3.6.16' };
const addition: Step = { kind: 'add-member', name, as: 'learner' };

describe('a step on a member pod', () => {
  it('forbids re-bootstrap of that pod only', async () => {
    const writes = await writesOf({ kind: 'forbid-rebootstrap', name, uid: 'pod' });
    expect(writes).toEqual([['pods', { metadata: { uid: 'pod', annotations: expect.any(Object) } }]]);
  });

  it('changes the image of that pod only, and names the version on its PVC before', async () => {
    const writes = await writesOf(upgrade);
    const version = { [blueprint.naming.versionAnnotation]: '3.6.16' };
    expect(writes).toEqual([
      ['persistentvolumeclaims', { metadata: { uid: 'claim', annotations: expect.objectContaining(version) } }],
      ['pods', expect.arrayContaining([{ op: 'test', path: '/metadata/uid', value: 'pod' }])],
    ]);
  });

  it('creates no PVC for a member that restarts: an empty volume would hide the loss of its data', async () => {
    const start: Step = { kind: 'start-member-pod', name, version: '3.5.35', join: { as: 'restarting' } };
    const created = (await writesOf(start)).filter(([, object]) => 'kind' in object);
    expect(created.map(([plural]) => plural)).toEqual(['pods']);
  });

  it('is not taken by an operator that no longer leads', async () => {
    const stop: Step = { kind: 'stop-member-pod', name, uid: 'pod' };
    await expect(writesOf(stop, { leads: false })).rejects.toThrow('no longer holds the leader lease');
  });
});

describe('the addition of a member', () => {
  it('succeeds if etcd lists the peer URL already: the answer to an earlier request was lost', async () => {
    const memberAdd = (): Promise<never> =>
      Promise.reject(new EtcdFailure('conflict', 'exists', { refusal: 'peer-url-exists', mayBeDone: false }));
    await expect(writesOf(addition, { memberAdd })).resolves.toEqual([]);
  });

  it('is blocked if the new name of the leader is another machine', async () => {
    const world = aWorld(
      withIntent({ peerURLOf: () => 'http://127.0.0.2:2380' }),
      withMember('db-0', { peerURLs: ['http://127.0.0.1:2380'] }),
    );
    await expect(writesOf(addition, { world })).rejects.toThrow(
      '127.0.0.2 does not resolve to the address of 127.0.0.1',
    );
  });
});
