import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { memberPodsOf } from './members.ts';

const [a, b] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);
const etcd = 'quay.io/coreos/etcd';

const memberPodOf = (annotations: Record<string, string>, status: object) => {
  const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const pod = {
    ...samplePod('db-0', 1, { annotations }),
    spec: { containers: [{ name: 'etcd', image: `${etcd}:v3.5.35@${a}` }] },
    status: { containerStatuses: [{ name: 'etcd', ready: true, restartCount: 0, image: '', imageID: '', ...status }] },
  };
  return memberPodsOf({ pods: [pod], claims: [] }, read.value.blueprint)[0];
};

describe('the pod of a member whose image is named by digest', () => {
  it('has the version of the tag if there is no version annotation', () => {
    expect(memberPodOf({}, {})?.version).toBe('3.5.35');
  });

  const changed = { 'etcd.database.coreos.com/changed-after-restarts': '0' };

  it('is not changing when it runs that digest under another name', () => {
    const status = { image: `sha256:${'c'.repeat(64)}`, imageID: `${etcd}@${a}` };
    expect(memberPodOf(changed, status)?.isChanging).toBe(false);
  });

  it('is changing while it runs another digest of the same version', () => {
    for (const image of [`${etcd}:v3.5.35`, `${etcd}:v3.5.35@${b}`])
      expect(memberPodOf(changed, { image, imageID: `${etcd}@${b}` })?.isChanging).toBe(true);
  });
});
