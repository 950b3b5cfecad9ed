import { describe, expect, it } from 'vitest';
import type { Pod, Stored } from '../../src/kube/object.ts';
import { versionOf } from './simulated-pods.ts';
import { SimulatedUpgrade } from './simulated-upgrade.ts';

const [a, b] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const onVolumes = { pod: { persistentVolumeClaimSpec: claim } };
const repository = 'quay.io/coreos/etcd';

const scenarios = [
  { title: 'another digest', from: { version: `3.6.16@${a}` }, to: { version: `3.6.16@${b}` } },
  { title: 'another version', from: { version: `3.5.35@${a}`, ...onVolumes }, to: { version: `3.6.16@${b}` } },
  {
    title: 'another version and pod template without PVCs, so that members join on the old version',
    from: { version: `3.5.35@${a}` },
    to: { version: `3.6.16@${b}`, pod: { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } },
  },
  {
    title: 'a digest in another field',
    from: { version: `3.5.35@${a}`, ...onVolumes },
    to: { version: '3.6.16', repository: `${repository}@${b}` },
  },
];

const imagesIn = ({ pods }: SimulatedUpgrade): readonly string[] =>
  (pods as unknown as readonly Stored<Pod>[]).map(versionOf);

const digestIn = (versions: readonly string[]): readonly (string | undefined)[] =>
  versions.map((version) => version.split('@')[1]);

describe.each(scenarios)('a pinned cluster with $title', { timeout: 120_000 }, ({ from, to }) => {
  it('is rolled with a digest in every pod image, wherever the operator is killed', async () => {
    const life = await SimulatedUpgrade.of({ size: 3, ...from });
    const moments = await life.changeAndRemember(to);
    for (const { title, life: killed } of moments) {
      for (const digest of digestIn(imagesIn(killed))) expect([a, b], title).toContain(digest);
      await killed.resume();
    }
    for (const { title, life: each } of [{ title: 'not killed', life }, ...moments]) {
      expect(each.members.violations, title).toEqual([]);
      expect(digestIn(imagesIn(each)), title).toEqual([b, b, b]);
    }
  });
});
