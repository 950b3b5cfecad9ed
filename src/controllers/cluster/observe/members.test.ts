import { describe, expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { MemberPod } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import type { MemberTemplate } from '../../../core/cluster/model/template.ts';
import { annotationsOf, bootstrapForbidden as bootstrapForbiddenFor } from '../../../core/manifests/initial-cluster.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import { memberPodManifest, templateAnnotation } from '../../../core/manifests/pod.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';
import { memberPodsOf } from './members.ts';

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
const name = 'db-0' as MemberName;
const created = '2026-01-01T00:00:00Z';

const podOf = (status: object, { blueprint = plain, metadata = {} } = {}): Stored<Pod> => {
  const pod = memberPodManifest(blueprint, {
    ...{ name, version: blueprint.intent.version },
    join: { as: 'bootstrap', of: { members: [name], token: 't' } },
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

describe('a member pod', () => {
  const cases: Record<string, { pod: Stored<Pod>; want: Partial<MemberPod> }> = {
    'is running and ready': {
      pod: podOf(ready),
      want: {
        phase: 'running',
        ready: true,
        hasRun: true,
        unreadySince: undefined,
        volume: 'with-pod',
        version: '3.5.35',
        image: 'quay.io/coreos/etcd:v3.5.35',
        drift: 'none',
        bootstrapForbidden: false,
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
    'is stuck when the image of an init container cannot be pulled': {
      pod: podOf({
        ...etcd({ waiting: { reason: 'PodInitializing' } }),
        initContainerStatuses: [
          { name: 'check-dns', state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } } },
        ],
      }),
      want: { phase: 'stuck', why: 'init container check-dns: ImagePullBackOff: not found' },
    },
    'is starting while an init container runs': {
      pod: podOf({
        ...etcd({ waiting: { reason: 'PodInitializing' } }),
        initContainerStatuses: [{ name: 'check-dns', state: { running: {} } }],
      }),
      want: { phase: 'starting', why: '' },
    },
    'is unready since the last change of its image': {
      pod: podOf(etcd({ waiting: { reason: 'ContainerCreating' } }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-at': '2026-01-01T00:10:00Z' } },
      }),
      want: { unreadySince: Date.parse('2026-01-01T00:10:00Z') },
    },
    'is changing until its container has restarted with the new image': {
      pod: podOf(ready, { metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } } }),
      want: { isChanging: true },
    },
    'is not changing when its image was changed back before a restart': {
      pod: podOf(etcd({ running: {} }, { image: 'quay.io/coreos/etcd:v3.5.35' }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } },
      }),
      want: { isChanging: false },
    },
    'is not changing once its container has restarted': {
      pod: podOf(etcd({ running: {} }, { restartCount: 1 }), {
        metadata: { annotations: { 'etcd.database.coreos.com/changed-after-restarts': '0' } },
      }),
      want: { isChanging: false },
    },
    'is stuck when it cannot be scheduled': {
      pod: podOf({
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
      }),
      want: { phase: 'stuck', why: 'Unschedulable: 0/3 nodes' },
    },
    'is stuck, with the termination message, when its container crashes repeatedly': {
      pod: podOf(
        etcd(
          { waiting: { reason: 'CrashLoopBackOff' } },
          { restartCount: 3, lastState: { terminated: { exitCode: 1, message: 'no space left' } } },
        ),
      ),
      want: { phase: 'stuck', hasRun: true, why: 'CrashLoopBackOff: ended with 1 no space left' },
    },
    'has run when its container has just ended': {
      pod: podOf(etcd({ terminated: { exitCode: 1 } })),
      want: { hasRun: true, mayHaveData: false },
    },
    'has ended when it was evicted': {
      pod: podOf({ phase: 'Failed', message: 'The node was low on memory' }),
      want: { phase: 'ended', why: 'The node was low on memory' },
    },
    'is stopping when it is being deleted': {
      pod: podOf(ready, { metadata: { deletionTimestamp: created, deletionGracePeriodSeconds: 30 } }),
      want: { phase: 'stopping', graceMillis: 30_000 },
    },
    'has no drift when only its version differs': {
      pod: podOf(ready, { blueprint: blueprintOf({ version: '3.5.34' }) }),
      want: { drift: 'none', version: '3.5.34', image: 'quay.io/coreos/etcd:v3.5.34' },
    },
    'needs a new pod when the pod template of the spec differs': {
      pod: podOf(ready, { blueprint: blueprintOf({ pod: { etcdEnv: [{ name: 'A', value: 'b' }] } }) }),
      want: { drift: 'pod' },
    },
    'needs other labels when only the labels of the spec differ': {
      pod: podOf(ready, { blueprint: blueprintOf({ pod: { labels: { team: 'a' } } }) }),
      want: { drift: 'labels' },
    },
    'has no drift when it has no template hash': {
      pod: podOf(ready, { metadata: { annotations: { 'etcd.version': '3.5.35' } } }),
      want: { drift: 'none' },
    },
    'has lost its volume when its PVC is gone': { pod: podOf(ready, { blueprint: durable }), want: { volume: 'lost' } },
  };
  for (const [title, { pod, want }] of Object.entries(cases)) {
    it(title, () => expect(memberPodsOf({ pods: [pod], claims: [] }, plain)[0]).toMatchObject(want));
  }

  it('names the StorageClass of the missing volume that it waits for', () => {
    const stuckBy = (message: string, storageClassName?: string) => {
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
      const waiting = { ...claimNamed('Pending'), spec: storageClassName === undefined ? {} : { storageClassName } };
      return memberPodsOf({ pods: [podOf({ conditions }, { blueprint: durable })], claims: [waiting] }, durable)[0]
        ?.why;
    };
    const unbound = 'pod has unbound immediate PersistentVolumeClaims';
    expect(stuckBy(unbound, 'nowhere')).toBe(
      `Unschedulable: ${unbound}: for PersistentVolumeClaim db-0 StorageClass nowhere has provided no volume`,
    );
    expect(stuckBy(unbound)).toContain('there is no default StorageClass');
    expect(stuckBy('0/3 nodes', 'standard')).toBe('Unschedulable: 0/3 nodes');
  });

  it('needs a new pod when the Secret has other keys than the pod mounts, and not while the keys are unknown', () => {
    const certified = blueprintOf({ TLS: { static: { member: { peerSecret: 'peer' } } } });
    const finding = (keys: object | undefined): Blueprint => ({
      ...certified,
      template: { ...certified.template, keysFound: { peer: keys } as MemberTemplate['keysFound'] & object },
    });
    const original = { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' };
    const others = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };
    const pod = podOf(ready, { blueprint: finding(others) });
    const drift = (keys: object | undefined) => memberPodsOf({ pods: [pod], claims: [] }, finding(keys))[0]?.drift;
    expect([drift(others), drift(undefined), drift(original)]).toEqual(['none', 'none', 'pod']);
  });

  describe('with certificates from a Secret of the operator', () => {
    const certified = blueprintOf({ TLS: { static: { member: { peerSecret: 'peer' } } } });
    const keeping = (caHash: string, shown = 'a leaf', blueprint = certified): Blueprint => ({
      ...blueprint,
      template: {
        ...blueprint.template,
        memberSecret: { secret: 'db-member-tls', caHash, initialCaHash: 'first', certHash: shown },
      },
    });
    const seenBy = (today: Blueprint, pod: Stored<Pod>) => memberPodsOf({ pods: [pod], claims: [] }, today)[0];

    it('mounts the Secret with the file names of the etcd flags', () => {
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

    it('needs a new pod when the CA bundle differs from that at its start', () => {
      const pod = podOf(ready, { blueprint: keeping('first') });
      expect(seenBy(keeping('first'), pod)).toMatchObject({ drift: 'none', caHash: 'first' });
      expect(seenBy(keeping('both'), pod)).toMatchObject({ drift: 'pod', caHash: 'first' });
    });

    it('needs a new pod for a renewed certificate only before etcd 3.2', () => {
      const [old, young] = ['3.1.10', '3.2.13'].map((version) => {
        const spec = { version, TLS: { static: { member: { peerSecret: 'peer' } } } };
        return podOf(ready, { blueprint: keeping('first', 'a leaf', blueprintOf(spec)) });
      }) as [Stored<Pod>, Stored<Pod>];
      const drifts = (shown: string) => [old, young].map((pod) => seenBy(keeping('first', shown), pod)?.drift);
      expect(drifts('a leaf')).toEqual(['none', 'none']);
      expect(drifts('another leaf')).toEqual(['pod', 'none']);
    });

    it('has no drift when it is older than the Secret, until the CA bundle changes', () => {
      const pod = podOf(ready, { blueprint: certified });
      expect(seenBy(keeping('first'), pod)).toMatchObject({ drift: 'none', caHash: 'first' });
      expect(seenBy(keeping('both'), pod)).toMatchObject({ drift: 'pod' });
    });
  });

  it('has a volume of its own with a PVC, unless the volume of the PVC is lost', () => {
    const pods = [podOf(ready, { blueprint: durable })];
    expect(memberPodsOf({ pods, claims: [claimNamed('Bound')] }, durable)).toMatchObject([{ volume: 'own' }]);
    expect(memberPodsOf({ pods, claims: [claimNamed('Lost')] }, durable)).toMatchObject([{ volume: 'lost' }]);
  });

  it('is gone, with a volume of its own, for a PVC without a pod', () => {
    expect(memberPodsOf({ pods: [], claims: [claimNamed('Bound')] }, durable)).toMatchObject([
      { name, phase: 'gone', volume: 'own' },
    ]);
  });

  const bootstrapForbidden = {
    annotations: annotationsOf(bootstrapForbiddenFor(name, durable.intent), durable.naming),
  };

  it('needs another volume if its PVC cannot grow, once the member has joined', () => {
    const pods = [podOf(ready, { blueprint: durable, metadata: bootstrapForbidden })];
    const refused = (size: string): Stored<PersistentVolumeClaim> => {
      const claimed = claimNamed('Bound');
      const annotations = { 'etcd.database.coreos.com/cannot-grow-to': size };
      return { ...claimed, metadata: { ...claimed.metadata, annotations } };
    };
    expect(memberPodsOf({ pods, claims: [refused('1Gi')] }, durable)).toMatchObject([{ drift: 'volume' }]);
    expect(memberPodsOf({ pods, claims: [refused('2Gi')] }, durable)).toMatchObject([{ drift: 'none' }]);
    const starting = [podOf({}, { blueprint: durable })];
    expect(memberPodsOf({ pods: starting, claims: [refused('1Gi')] }, durable)).toMatchObject([{ drift: 'none' }]);
    const annotations = { ...bootstrapForbidden.annotations, [templateAnnotation(durable.naming)]: 'before' };
    const outdated = (status: object) => podOf(status, { blueprint: durable, metadata: { annotations } });
    const both = [outdated(ready), outdated(etcd({ waiting: { reason: 'CrashLoopBackOff' } }))];
    const drifts = both.map((pod) => memberPodsOf({ pods: [pod], claims: [refused('1Gi')] }, durable)[0]?.drift);
    expect(drifts).toEqual(['volume', 'pod']); // a stuck pod is recreated first
  });
});
