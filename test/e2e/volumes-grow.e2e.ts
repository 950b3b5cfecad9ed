import { expect } from 'vitest';
import { list, shown } from '../support/api.ts';
import { coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf } from '../support/conditions.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const claimOf = (storage: string): object => ({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage } },
});
const asking = {
  coreos: (storage: string, more = {}): Record<string, unknown> => ({
    pod: { persistentVolumeClaimSpec: { ...claimOf(storage), ...more } },
  }),
  improbable: (storage: string, more = {}): Record<string, unknown> => ({
    storage: { volumeClaimTemplate: { ...claimOf(storage), ...more } },
  }),
};

/** Where the class lets volumes grow nobody notices; where it does not, others take the places of members, as is told elsewhere. */
for (const api of [coreos, improbable])
  story.asOnTheLab(`volumes of ${api.name} grow under members that run, where their class lets them`, async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    const classes = await list<{ allowVolumeExpansion?: boolean }>(kubectl, 'storageclasses');
    const canGrow = classes.some(({ allowVolumeExpansion }) => allowVolumeExpansion === true);
    await db.apply({ size: 3, version, durable: true, extra: asking[api.name]('256Mi') });
    await db.settled(3);
    const [ids, pods] = [await db.ids(), await db.podNames()];
    const sizes = (of: string): Promise<string> =>
      shown(kubectl, `persistentvolumeclaims -l ${db.label},${api.memberLabel}`, of);
    await step('more is asked for, and given', async () => {
      await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: asking[api.name]('384Mi') })}'`);
      await until('all have it', async () => {
        const given = await sizes('.status.capacity.storage');
        return /^384Mi 384Mi 384Mi$/.test(given) || (!canGrow && /384Mi/.test(given)) || undefined;
      });
      await db.settled(3, 180);
      if (canGrow) expect([await db.ids(), await db.podNames()]).toEqual([ids, pods]);
    });
    await step('less is refused', async () => {
      const less = JSON.stringify({ spec: asking[api.name]('128Mi') });
      expect(await kubectl.refused(`patch ${db.resource} --type=merge -p '${less}'`)).toMatch(
        /can grow,? but not shrink/,
      );
    });
  });

/** A class like the default one, of which more may be asked for; but nobody gives it. */
async function withVainHopes(kubectl: Kubectl, name: string, tell: () => Promise<void>): Promise<void> {
  const items = await list<StorageClass>(kubectl, 'storageclasses');
  const byDefault = ({ metadata: { annotations = {} } }: StorageClass): boolean =>
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true';
  const { apiVersion, kind, provisioner, volumeBindingMode } = items.find(byDefault) ?? items[0] ?? {};
  const hopes = { allowVolumeExpansion: true, parameters: { expansion: 'never' } };
  const made = { ...{ apiVersion, kind, provisioner, volumeBindingMode }, ...hopes, metadata: { name } };
  await kubectl('create -f -', { input: JSON.stringify(made) });
  try {
    await tell();
  } finally {
    await kubectl(`delete storageclass ${name}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

interface StorageClass {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly provisioner: string;
  readonly volumeBindingMode: string;
}

for (const api of [coreos, improbable])
  story.inFull(`volumes of ${api.name} that have not grown yet are told of, while members go on`, async (told) => {
    const { kubectl, step, namespace } = told;
    const db = declaredIn(api)(kubectl);
    await installFor(api, told);
    await withVainHopes(kubectl, namespace, async () => {
      const of = (storage: string): Record<string, unknown> =>
        asking[api.name](storage, { storageClassName: namespace });
      const { pod: ofPod, ...extra } = of('256Mi');
      await db.apply({ size: 1, version, extra, ...(ofPod === undefined ? {} : { pod: ofPod as Fields }) });
      await db.settled(1);
      const ids = await db.ids();
      await step('more is asked for', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: of('384Mi') })}'`);
        const reason = '.status.conditions[?(@.type=="Progressing")].reason';
        await waitFor(kubectl, db.resource, field(reason, 'VolumeGrowing'));
        const [pod = ''] = await db.podNames();
        const claims = `persistentvolumeclaims -l ${db.label},${api.memberLabel}`;
        expect(await shown(kubectl, claims, '.spec.resources.requests.storage')).toBe('384Mi');
        expect(await shown(kubectl, claims, '.status.capacity.storage')).toBe('256Mi');
        const says = `PersistentVolumeClaim ${pod} is asked for 384Mi and has 256Mi`;
        expect((await conditionOf(db, 'Progressing'))?.message).toContain(says);
      });
      await step('the member is the same, and serves', async () => {
        expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
        expect(await db.ids()).toEqual(ids);
      });
    });
  });
