import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, withMember, withMemberPod } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u' };

function blueprintIn(dialect: typeof coreos, spec: object) {
  const read = dialect.read({ metadata, spec: { size: 3, replicas: 3, ...spec } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
}

interface Written {
  readonly what: string;
  readonly body: { readonly metadata: { readonly annotations?: object; readonly ownerReferences?: object } };
}

/** Performs a step on objects of an original operator. Returns the writes. */
async function performing(step: Step, { blueprint = blueprintIn(improbable, {}), annotations = {}, pod = {} } = {}) {
  const written: Written[] = [];
  const removed: (readonly [string, object])[] = [];
  const created: { readonly spec: object }[] = [];
  const world = aWorld(
    withMemberPod('db-0', { version: '3.3.27' }),
    withMember('db-0', { peerURLs: ['http://db-0.db:2380'] }),
  );
  const found = { metadata: { namespace: 'default', name: 'db-0-aaaaa', uid: 'pod' }, spec: pod };
  const claim = { metadata: { name: 'db-0', uid: 'claim', annotations } };
  const context = {
    blueprint,
    observed: {
      world,
      tlsModes: { peer: 'plain', client: 'plain' },
      blueprintFor: () => blueprint,
      podWith: (uid: string) => (uid === 'pod' ? found : undefined),
    },
    writer: {
      patch: async ({ plural }: { plural: string }, { name }: { name: string }, { body }: Pick<Written, 'body'>) =>
        void written.push({ what: `${plural}/${name}`, body }),
      remove: async ({ plural }: { plural: string }, { name }: { name: string }, options: object) =>
        void removed.push([`${plural}/${name}`, options]),
      create: async (_: unknown, object: { readonly spec: object }) => void created.push(object),
    },
    controller: { caches: { claims: { get: () => claim } } },
    peers: undefined,
  };
  await perform(step, context as unknown as StepContext);
  return { written, removed, created };
}

const name = nameOf('db-0');

describe('a member pod of another operator', () => {
  it('is orphaned by the deletion of its ReplicaSet', async () => {
    const { removed } = await performing({ kind: 'release-member-pod', name, uid: 'set' });
    expect(removed).toMatchObject([
      ['replicasets/db-0', { propagationPolicy: 'Orphan', preconditions: { uid: 'set' } }],
    ]);
  });

  it('is adopted under its own name, with version, user and peer scheme on its PVC', async () => {
    const { written } = await performing({ kind: 'adopt-member-pod', name, uid: 'pod' });
    expect(written.map(({ what }) => what)).toEqual(['persistentvolumeclaims/db-0', 'pods/db-0-aaaaa']);
    const prefix = 'etcd.improbable.io';
    expect(written[0]?.body.metadata.annotations).toEqual({
      [`${prefix}/etcd-version`]: '3.3.27',
      [`${prefix}/pvc-template-hash`]: expect.stringMatching(/^[0-9a-f]{16}$/),
      [`${prefix}/user`]: '0',
      [`${prefix}/peer-scheme`]: 'http',
    });
    expect(written[1]?.body.metadata).toMatchObject({
      uid: 'pod',
      ownerReferences: [{ kind: 'EtcdCluster', name: 'db', uid: 'u', controller: true }],
      annotations: { [`${prefix}/etcd-version`]: '3.3.27', [`${prefix}/template-hash`]: expect.any(String) },
    });
  });

  it('keeps the runAsUser of its pod', async () => {
    const pod = { securityContext: { runAsUser: 1000 }, containers: [{ name: 'etcd' }] };
    const { written } = await performing({ kind: 'adopt-member-pod', name, uid: 'pod' }, { pod });
    expect(written[0]?.body.metadata.annotations).toMatchObject({ 'etcd.improbable.io/user': '1000' });
  });

  it('is not adopted if the pod is gone', async () => {
    await expect(performing({ kind: 'adopt-member-pod', name, uid: 'other' })).rejects.toMatchObject({
      kind: 'conflict',
    });
  });
});

describe('a member pod on a PVC', () => {
  const start = { kind: 'start-member-pod', name, join: { as: 'restarting' }, version: '3.3.27' } as const;
  const prefix = 'etcd.database.coreos.com';
  const volume = {
    pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  };

  it.each([
    ['that another operator made runs as root', {}, { runAsUser: 0, runAsGroup: 0 }],
    [
      'that was adopted runs as the user of its annotation',
      { [`${prefix}/pvc-template-hash`]: 'x', [`${prefix}/user`]: '1000' },
      { runAsUser: 1000, runAsNonRoot: true },
    ],
    [
      'that this operator made runs as the default user',
      { [`${prefix}/pvc-template-hash`]: 'x' },
      { runAsUser: 65532, runAsNonRoot: true },
    ],
  ])('%s', async (_, annotations, securityContext) => {
    const { created } = await performing(start, { blueprint: blueprintIn(coreos, volume), annotations });
    expect(created[0]?.spec).toMatchObject({ securityContext });
  });

  it('runs as the user of the spec', async () => {
    const spec = { pod: { ...volume.pod, securityContext: { runAsUser: 7 } } };
    const { created } = await performing(start, { blueprint: blueprintIn(coreos, spec) });
    expect(created[0]?.spec).toMatchObject({ securityContext: { runAsUser: 7 } });
  });
});
