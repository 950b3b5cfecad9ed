import { describe, expect, it } from 'vitest';
import { annotationsOf, sealed as sealedFor } from '../../core/desired/initial-cluster.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { memberPod, templateAnnotation } from '../../core/desired/pod.ts';
import type { Carrier } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { MemberTemplate } from '../../core/model/template.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
import { carriersOf } from './carriers.ts';

const blueprintOf = (spec: object): Blueprint => {
  const read = coreos.read({
    metadata: { name: 'db', namespace: 'default', uid: 'u' },
    spec: { size: 3, version: '3.5.35', ...spec },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
};
const plain = blueprintOf({});
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const durable = blueprintOf({ pod: { persistentVolumeClaimSpec: claim } });
const name = 'db-0' as CarrierName;
const created = '2026-01-01T00:00:00Z';

const podOf = (status: object, { blueprint = plain, metadata = {} } = {}): Stored<Pod> => {
  const pod = memberPod(blueprint, {
    ...{ name, version: blueprint.intent.version },
    join: { as: 'founder', of: { members: [name], token: 't' } },
  });
  const about = { ...pod.metadata, uid: 'pod-uid', resourceVersion: '1', creationTimestamp: created, ...metadata };
  return { ...pod, metadata: about, status } as unknown as Stored<Pod>;
};
const etcd = (state: object, more: object = {}): object => ({
  containerStatuses: [{ name: 'etcd', restartCount: 0, state, ...more }],
});
const ready = { conditions: [{ type: 'Ready', status: 'True' }], ...etcd({ running: {} }) };
const claimNamed = (phase: string): Stored<PersistentVolumeClaim> =>
  ({ metadata: { name, uid: 'claim-uid' }, status: { phase } }) as unknown as Stored<PersistentVolumeClaim>;

describe('the body of a member', () => {
  const cases: Record<string, { pod: Stored<Pod>; want: Partial<Carrier> }> = {
    'is running and ready': {
      pod: podOf(ready),
      want: {
        phase: 'running',
        ready: true,
        hasRun: true,
        unreadySince: undefined,
        disk: 'with-pod',
        version: '3.5.35',
        image: 'quay.io/coreos/etcd:v3.5.35',
        drift: 'none',
        sealed: false,
      },
    },
    'is starting while its image is pulled': {
      pod: podOf(etcd({ waiting: { reason: 'ContainerCreating' } })),
      want: { phase: 'starting', hasRun: false, unreadySince: Date.parse(created) },
    },
    'is stuck when its image cannot be pulled': {
      pod: podOf(etcd({ waiting: { reason: 'ErrImagePull', message: 'not found' } })),
      want: { phase: 'stuck', why: 'ErrImagePull: not found' },
    },
    'is stuck when what runs before it cannot be pulled': {
      pod: podOf({
        ...etcd({ waiting: { reason: 'PodInitializing' } }),
        initContainerStatuses: [
          { name: 'check-dns', state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } } },
        ],
      }),
      want: { phase: 'stuck', why: 'init container check-dns: ImagePullBackOff: not found' },
    },
    'is starting while what runs before it does': {
      pod: podOf({
        ...etcd({ waiting: { reason: 'PodInitializing' } }),
        initContainerStatuses: [{ name: 'check-dns', state: { running: {} } }],
      }),
      want: { phase: 'starting', why: '' },
    },
    'has another chance, and as much time, when its image was changed': {
      pod: podOf(etcd({ waiting: { reason: 'ContainerCreating' } }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-at': '2026-01-01T00:10:00Z' } },
      }),
      want: { unreadySince: Date.parse('2026-01-01T00:10:00Z') },
    },
    'is changing until its container has started again with the image it was given': {
      pod: podOf(ready, { metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } } }),
      want: { isChanging: true },
    },
    'is not changing when it was given back what it runs': {
      pod: podOf(etcd({ running: {} }, { image: 'quay.io/coreos/etcd:v3.5.35' }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } },
      }),
      want: { isChanging: false },
    },
    'is changing no more once it has': {
      pod: podOf(etcd({ running: {} }, { restartCount: 1 }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } },
      }),
      want: { isChanging: false },
    },
    'is stuck when no node will have it': {
      pod: podOf({
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
      }),
      want: { phase: 'stuck', why: 'Unschedulable: 0/3 nodes' },
    },
    'is stuck, with its last words, when it fails again and again': {
      pod: podOf(
        etcd(
          { waiting: { reason: 'CrashLoopBackOff' } },
          { restartCount: 3, lastState: { terminated: { exitCode: 1, message: 'no space left' } } },
        ),
      ),
      want: { phase: 'stuck', hasRun: true, why: 'CrashLoopBackOff: ended with 1 no space left' },
    },
    'has ended when it was evicted': {
      pod: podOf({ phase: 'Failed', message: 'The node was low on memory' }),
      want: { phase: 'ended', why: 'The node was low on memory' },
    },
    'is stopping when it is being deleted': {
      pod: podOf(ready, { metadata: { deletionTimestamp: created, deletionGracePeriodSeconds: 30 } }),
      want: { phase: 'stopping', graceMillis: 30_000 },
    },
    'has not drifted when only its version is another': {
      pod: podOf(ready, { blueprint: blueprintOf({ version: '3.5.34' }) }),
      want: { drift: 'none', version: '3.5.34', image: 'quay.io/coreos/etcd:v3.5.34' },
    },
    'needs a new pod when the spec says other things of pods': {
      pod: podOf(ready, { blueprint: blueprintOf({ pod: { etcdEnv: [{ name: 'A', value: 'b' }] } }) }),
      want: { drift: 'pod' },
    },
    'can stay when only labels are others': {
      pod: podOf(ready, { blueprint: blueprintOf({ pod: { labels: { team: 'a' } } }) }),
      want: { drift: 'labels' },
    },
    'is left alone when it was made before there were marks': {
      pod: podOf(ready, { metadata: { annotations: { 'etcd.version': '3.5.35' } } }),
      want: { drift: 'none' },
    },
    'has lost its disk when the claim is gone': { pod: podOf(ready, { blueprint: durable }), want: { disk: 'lost' } },
  };
  for (const [sentence, { pod, want }] of Object.entries(cases)) {
    it(sentence, () => expect(carriersOf({ pods: [pod], claims: [] }, plain)[0]).toMatchObject(want));
  }

  it('says of which class there is no volume, where that is what it waits for', () => {
    const stuckBy = (message: string, storageClassName?: string) => {
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
      const waiting = { ...claimNamed('Pending'), spec: storageClassName === undefined ? {} : { storageClassName } };
      return carriersOf({ pods: [podOf({ conditions }, { blueprint: durable })], claims: [waiting] }, durable)[0]?.why;
    };
    const unbound = 'pod has unbound immediate PersistentVolumeClaims';
    expect(stuckBy(unbound, 'nowhere')).toBe(
      `Unschedulable: ${unbound}: for PersistentVolumeClaim db-0 no volume of StorageClass nowhere has been made`,
    );
    expect(stuckBy(unbound)).toContain('there is no default StorageClass');
    expect(stuckBy('0/3 nodes', 'standard')).toBe('Unschedulable: 0/3 nodes');
  });

  it('is outdated when its Secret has other keys than it shows, and not while they are not known', () => {
    const certified = blueprintOf({ TLS: { static: { member: { peerSecret: 'peer' } } } });
    const finding = (keys: object | undefined): Blueprint => ({
      ...certified,
      template: { ...certified.template, keysFound: { peer: keys } as MemberTemplate['keysFound'] & object },
    });
    const original = { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' };
    const others = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };
    const pod = podOf(ready, { blueprint: finding(others) });
    const drift = (keys: object | undefined) => carriersOf({ pods: [pod], claims: [] }, finding(keys))[0]?.drift;
    expect([drift(others), drift(undefined), drift(original)]).toEqual(['none', 'none', 'pod']);
  });

  describe('whose certificates we keep', () => {
    const certified = blueprintOf({ TLS: { static: { member: { peerSecret: 'peer' } } } });
    const keeping = (believed: string, shown = 'a leaf', blueprint = certified): Blueprint => ({
      ...blueprint,
      template: { ...blueprint.template, kept: { secret: 'db-member-tls', believed, believedAtFirst: 'first', shown } },
    });
    const seenBy = (today: Blueprint, pod: Stored<Pod>) => carriersOf({ pods: [pod], claims: [] }, today)[0];

    it('mounts our Secret under the names that etcd is told', () => {
      expect(podOf(ready, { blueprint: keeping('first') }).spec?.volumes).toContainEqual({
        name: 'member-peer-tls',
        secret: {
          secretName: 'db-member-tls',
          items: [
            { key: 'peer.crt', path: 'peer.crt' },
            { key: 'peer.key', path: 'peer.key' },
            { key: 'peer-ca.crt', path: 'peer-ca.crt' },
          ],
        },
      });
    });

    it('is outdated when other authorities are to be believed than it read when it started', () => {
      const pod = podOf(ready, { blueprint: keeping('first') });
      expect(seenBy(keeping('first'), pod)).toMatchObject({ drift: 'none', believes: 'first' });
      expect(seenBy(keeping('both'), pod)).toMatchObject({ drift: 'pod', believes: 'first' });
    });

    it('is outdated when it would show a renewed certificate only after another start', () => {
      const [old, young] = ['3.1.10', '3.2.13'].map((version) => {
        const spec = { version, TLS: { static: { member: { peerSecret: 'peer' } } } };
        return podOf(ready, { blueprint: keeping('first', 'a leaf', blueprintOf(spec)) });
      }) as [Stored<Pod>, Stored<Pod>];
      const drifts = (shown: string) => [old, young].map((pod) => seenBy(keeping('first', shown), pod)?.drift);
      expect(drifts('a leaf')).toEqual(['none', 'none']);
      expect(drifts('another leaf')).toEqual(['pod', 'none']);
    });

    it('stays as it is when it was made before we kept any, until authorities change', () => {
      const pod = podOf(ready, { blueprint: certified });
      expect(seenBy(keeping('first'), pod)).toMatchObject({ drift: 'none', believes: 'first' });
      expect(seenBy(keeping('both'), pod)).toMatchObject({ drift: 'pod' });
    });
  });

  it('has a disk of its own where there is a claim, unless the volume behind it is lost', () => {
    const pods = [podOf(ready, { blueprint: durable })];
    expect(carriersOf({ pods, claims: [claimNamed('Bound')] }, durable)).toMatchObject([{ disk: 'own' }]);
    expect(carriersOf({ pods, claims: [claimNamed('Lost')] }, durable)).toMatchObject([{ disk: 'lost' }]);
  });

  it('is gone, and its disk is not, where there is a claim and no pod', () => {
    expect(carriersOf({ pods: [], claims: [claimNamed('Bound')] }, durable)).toMatchObject([
      { name, phase: 'gone', disk: 'own' },
    ]);
  });

  const sealed = { annotations: annotationsOf(sealedFor(name, durable.intent), durable.naming) };

  it('needs another disk where its own cannot grow as asked, once it has joined', () => {
    const pods = [podOf(ready, { blueprint: durable, metadata: sealed })];
    const refused = (size: string): Stored<PersistentVolumeClaim> => {
      const claimed = claimNamed('Bound');
      const annotations = { 'etcd.database.coreos.com/cannot-grow-to': size };
      return { ...claimed, metadata: { ...claimed.metadata, annotations } };
    };
    expect(carriersOf({ pods, claims: [refused('1Gi')] }, durable)).toMatchObject([{ drift: 'disk' }]);
    expect(carriersOf({ pods, claims: [refused('2Gi')] }, durable)).toMatchObject([{ drift: 'none' }]);
    const starting = [podOf({}, { blueprint: durable })];
    expect(carriersOf({ pods: starting, claims: [refused('1Gi')] }, durable)).toMatchObject([{ drift: 'none' }]);
    const annotations = { ...sealed.annotations, [templateAnnotation(durable.naming)]: 'before' };
    const outdated = (status: object) => podOf(status, { blueprint: durable, metadata: { annotations } });
    const both = [outdated(ready), outdated(etcd({ waiting: { reason: 'CrashLoopBackOff' } }))];
    const drifts = both.map((pod) => carriersOf({ pods: [pod], claims: [refused('1Gi')] }, durable)[0]?.drift);
    expect(drifts).toEqual(['disk', 'pod']); // what lets it start comes first
  });
});
