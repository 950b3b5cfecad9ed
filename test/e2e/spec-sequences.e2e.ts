import { expect } from 'vitest';
import { fieldOf, list, read } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

/** Valid specs that differ in many fields. */
const specs = {
  plain: { size: 1, version: '3.5.35' },
  larger: { size: 3, version: '3.5.35', pod: { labels: { team: 'a' }, annotations: { note: 'b' } } },
  tuned: {
    size: 2,
    version: '3.6.16',
    quotaBackendBytes: 104_857_600,
    pod: { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }], resources: { requests: { cpu: '10m' } } },
  },
} as const;
type Name = keyof typeof specs;

/** A sequence with every change between specs. 3.6 is last: a downgrade to 3.5 needs a separate request. */
const walk: readonly Name[] = ['larger', 'plain', 'larger', 'tuned'];

/** Invalid specs: refused by the API server or reported in the status. They have no effect on the next valid spec. */
const bad: readonly object[] = [
  { size: 0 },
  { version: '3.5.35; rm -rf /' },
  { pod: { resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } } },
  { version: '3.5.3599' },
  { pod: { nodeSelector: { nowhere: 'at-all' } } },
];

interface Pod {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
  readonly spec: { readonly containers: readonly Record<string, unknown>[] };
}

/** The fields that are equal for all clusters with the same spec, whatever their history. */
async function shapeOf(kubectl: Kubectl, name: string): Promise<object> {
  const items = await list<Pod>(kubectl, `pods -l etcd_cluster=${name}`);
  const shapes = items.map(({ metadata, spec }) => {
    const { image, env, resources } = spec.containers[0] ?? {};
    const { team } = metadata.labels;
    return { team, note: metadata.annotations['note'], image, env, resources };
  });
  const { status } = await read<{ status: Record<string, unknown> }>(kubectl, `etcdcluster/${name}`);
  const { phase, size, readyMembers, currentVersion, targetVersion } = status;
  return { pods: shapes, status: { phase, size, readyMembers, currentVersion, targetVersion } };
}

const applied = (name: string, spec: object): { input: string } => ({
  input: JSON.stringify({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: { name },
    spec,
  }),
});

story.asOnTheLab('a cluster depends on its last valid spec only, not on earlier or invalid specs', async (context) => {
  const { kubectl, step } = context;
  await installOperator(context);
  const reference = new Map<Name, object>();
  const applySpec = async (name: string, spec: Name): Promise<void> => {
    await kubectl('apply -f -', applied(name, specs[spec]));
    await declared(kubectl, name).settled(specs[spec].size);
    const generation = await fieldOf(kubectl, `etcdcluster/${name}`, '.metadata.generation');
    await waitFor(kubectl, `etcdcluster/${name}`, field('.status.observedGeneration', generation));
    await waitFor(kubectl, `etcdcluster/${name}`, inSeconds(120, field('.status.currentVersion', specs[spec].version)));
    await declared(kubectl, name).settled(specs[spec].size);
  };
  await step('a new cluster with each spec, as reference', async () => {
    for (const spec of Object.keys(specs) as Name[]) {
      await applySpec(`ref-${spec}`, spec);
      reference.set(spec, await shapeOf(kubectl, `ref-${spec}`));
      await kubectl(`delete etcdcluster ref-${spec} --wait=false`);
    }
  });
  await applySpec('db', 'plain');
  for (const spec of walk) {
    await step(`changed to ${spec}`, async () => {
      await applySpec('db', spec);
      expect(await shapeOf(kubectl, 'db')).toEqual(reference.get(spec));
    });
  }
  for (const wrong of bad) {
    await step(`changed to the invalid ${JSON.stringify(wrong)} and back`, async () => {
      const spec = { ...specs.tuned, ...wrong };
      const answer = await kubectl('apply -f -', applied('db', spec)).catch((error: Error) => error.message);
      if (!answer.includes('Invalid value')) await waitFor(kubectl, 'etcdcluster/db', condition('Degraded'));
      await applySpec('db', 'tuned');
      expect(await shapeOf(kubectl, 'db')).toEqual(reference.get('tuned'));
    });
  }
});
