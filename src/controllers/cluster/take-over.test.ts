import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, withCarrier, withMember } from '../../../test/support/worlds.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { Deed } from './deed.ts';
import { perform } from './perform.ts';

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

/** Performs a step on what an original has made; gives back what was written. */
async function performing(step: Step, { blueprint = blueprintIn(improbable, {}), annotations = {}, pod = {} } = {}) {
  const written: Written[] = [];
  const removed: (readonly [string, object])[] = [];
  const created: { readonly spec: object }[] = [];
  const world = aWorld(
    withCarrier('db-0', { version: '3.3.27' }),
    withMember('db-0', { peerURLs: ['http://db-0.db:2380'] }),
  );
  const found = { metadata: { namespace: 'default', name: 'db-0-aaaaa', uid: 'pod' }, spec: pod };
  const claim = { metadata: { name: 'db-0', uid: 'claim', annotations } };
  const deed = {
    blueprint,
    observed: {
      world,
      planes: { peer: 'plain', client: 'plain' },
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
    tools: { caches: { claims: { get: () => claim } } },
    peers: undefined,
  };
  await perform(step, deed as unknown as Deed);
  return { written, removed, created };
}

const name = nameOf('db-0');

describe('what another operator has made', () => {
  it('is let go of by its ReplicaSet, and goes on', async () => {
    const { removed } = await performing({ kind: 'release-carrier', name, uid: 'set' });
    expect(removed).toMatchObject([
      ['replicasets/db-0', { propagationPolicy: 'Orphan', preconditions: { uid: 'set' } }],
    ]);
  });

  it('becomes ours under the name that it has, with what is known of its disk beside the data', async () => {
    const { written } = await performing({ kind: 'adopt-carrier', name, uid: 'pod' });
    expect(written.map(({ what }) => what)).toEqual(['persistentvolumeclaims/db-0', 'pods/db-0-aaaaa']);
    const prefix = 'etcd.improbable.io';
    expect(written[0]?.body.metadata.annotations).toEqual({
      [`${prefix}/etcd-version`]: '3.3.27',
      [`${prefix}/claim`]: expect.stringMatching(/^[0-9a-f]{16}$/),
      [`${prefix}/user`]: '0',
      [`${prefix}/peer-scheme`]: 'http',
    });
    expect(written[1]?.body.metadata).toMatchObject({
      uid: 'pod',
      ownerReferences: [{ kind: 'EtcdCluster', name: 'db', uid: 'u', controller: true }],
      annotations: { [`${prefix}/etcd-version`]: '3.3.27', [`${prefix}/template`]: expect.any(String) },
    });
  });

  it('keeps the user that its pod says', async () => {
    const pod = { securityContext: { runAsUser: 1000 }, containers: [{ name: 'etcd' }] };
    const { written } = await performing({ kind: 'adopt-carrier', name, uid: 'pod' }, { pod });
    expect(written[0]?.body.metadata.annotations).toMatchObject({ 'etcd.improbable.io/user': '1000' });
  });

  it('is left alone when its pod has gone meanwhile', async () => {
    await expect(performing({ kind: 'adopt-carrier', name, uid: 'other' })).rejects.toMatchObject({ kind: 'conflict' });
  });
});

describe('a body on a disk', () => {
  const start = { kind: 'start-carrier', name, join: { as: 'returner' }, version: '3.3.27' } as const;
  const prefix = 'etcd.database.coreos.com';
  const disk = {
    pod: { persistentVolumeClaimSpec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  };

  it.each([
    ['that another operator has made runs as root', {}, { runAsUser: 0, runAsGroup: 0 }],
    [
      'that was taken over runs as whoever ran there',
      { [`${prefix}/claim`]: 'x', [`${prefix}/user`]: '1000' },
      { runAsUser: 1000, runAsNonRoot: true },
    ],
    ['of our own runs as nobody in particular', { [`${prefix}/claim`]: 'x' }, { runAsUser: 65532, runAsNonRoot: true }],
  ])('%s', async (_, annotations, securityContext) => {
    const { created } = await performing(start, { blueprint: blueprintIn(coreos, disk), annotations });
    expect(created[0]?.spec).toMatchObject({ securityContext });
  });

  it('runs as the spec says, if it says so', async () => {
    const spec = { pod: { ...disk.pod, securityContext: { runAsUser: 7 } } };
    const { created } = await performing(start, { blueprint: blueprintIn(coreos, spec) });
    expect(created[0]?.spec).toMatchObject({ securityContext: { runAsUser: 7 } });
  });
});
