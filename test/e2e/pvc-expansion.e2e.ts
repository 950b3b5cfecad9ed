import { expect } from 'vitest';
import { fieldOf, list } from '../support/api.ts';
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
const storageSpec = {
  coreos: (storage: string, more = {}): Record<string, unknown> => ({
    pod: { persistentVolumeClaimSpec: { ...claimOf(storage), ...more } },
  }),
  improbable: (storage: string, more = {}): Record<string, unknown> => ({
    storage: { volumeClaimTemplate: { ...claimOf(storage), ...more } },
  }),
};

/** If the StorageClass allows expansion, no pod changes. Otherwise members are replaced (every-field-reaches-members.e2e.ts). */
for (const api of [coreos, improbable])
  story.asOnTheLab(
    `PVCs of ${api.name} clusters are expanded without a restart if their StorageClass allows it`,
    async (context) => {
      const { kubectl, step } = context;
      const db = declaredIn(api)(kubectl);
      await installFor(api, context);
      const classes = await list<{ allowVolumeExpansion?: boolean }>(kubectl, 'storageclasses');
      const canGrow = classes.some(({ allowVolumeExpansion }) => allowVolumeExpansion === true);
      await db.apply({ size: 3, version, durable: true, extra: storageSpec[api.name]('256Mi') });
      await db.settled(3);
      const [ids, pods] = [await db.ids(), await db.podNames()];
      const sizes = (path: string): Promise<string> =>
        fieldOf(kubectl, `persistentvolumeclaims -l ${db.label},${api.memberLabel}`, path);
      await step('a larger size is requested and provided', async () => {
        await kubectl(
          `patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: storageSpec[api.name]('384Mi') })}'`,
        );
        await until('all PVCs have the new size', async () => {
          const capacities = await sizes('.status.capacity.storage');
          return /^384Mi 384Mi 384Mi$/.test(capacities) || (!canGrow && /384Mi/.test(capacities)) || undefined;
        });
        await db.settled(3, 180);
        if (canGrow) expect([await db.ids(), await db.podNames()]).toEqual([ids, pods]);
      });
      await step('a smaller size is refused', async () => {
        const less = JSON.stringify({ spec: storageSpec[api.name]('128Mi') });
        expect(await kubectl.refused(`patch ${db.resource} --type=merge -p '${less}'`)).toMatch(
          /can grow,? but not shrink/,
        );
      });
    },
  );

/** Creates a StorageClass like the default one that allows expansion but never expands a volume. */
async function withStuckExpansion(kubectl: Kubectl, name: string, work: () => Promise<void>): Promise<void> {
  const items = await list<StorageClass>(kubectl, 'storageclasses');
  const byDefault = ({ metadata: { annotations = {} } }: StorageClass): boolean =>
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true';
  const { apiVersion, kind, provisioner, volumeBindingMode } = items.find(byDefault) ?? items[0] ?? {};
  const expansion = { allowVolumeExpansion: true, parameters: { expansion: 'never' } };
  const made = { ...{ apiVersion, kind, provisioner, volumeBindingMode }, ...expansion, metadata: { name } };
  await kubectl('create -f -', { input: JSON.stringify(made) });
  try {
    await work();
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
  story.inFull(
    `a pending PVC expansion in the ${api.name} API is reported while the member serves`,
    async (context) => {
      const { kubectl, step, namespace } = context;
      const db = declaredIn(api)(kubectl);
      await installFor(api, context);
      await withStuckExpansion(kubectl, namespace, async () => {
        const specOf = (storage: string): Record<string, unknown> =>
          storageSpec[api.name](storage, { storageClassName: namespace });
        const { pod: ofPod, ...extra } = specOf('256Mi');
        await db.apply({ size: 1, version, extra, ...(ofPod === undefined ? {} : { pod: ofPod as Fields }) });
        await db.settled(1);
        const ids = await db.ids();
        await step('a larger size is requested, and the status reports the expansion', async () => {
          await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: specOf('384Mi') })}'`);
          const reason = '.status.conditions[?(@.type=="Progressing")].reason';
          await waitFor(kubectl, db.resource, field(reason, 'VolumeGrowing'));
          const [pod = ''] = await db.podNames();
          const claims = `persistentvolumeclaims -l ${db.label},${api.memberLabel}`;
          expect(await fieldOf(kubectl, claims, '.spec.resources.requests.storage')).toBe('384Mi');
          expect(await fieldOf(kubectl, claims, '.status.capacity.storage')).toBe('256Mi');
          const message = `resizing PersistentVolumeClaim ${pod} from 256Mi to 384Mi`;
          expect((await conditionOf(db, 'Progressing'))?.message).toContain(message);
        });
        await step('the member is unchanged and serves', async () => {
          expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
          expect(await db.ids()).toEqual(ids);
        });
      });
    },
  );
