import { expect } from 'vitest';
import { list, read, shown } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

/** Specs that make sense, each different from the others in many ways. */
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

/** Every way from one to another, in one walk. 3.6 is only reached last: etcd does not go back from there to 3.5 unasked. */
const walk: readonly Name[] = ['larger', 'plain', 'larger', 'tuned'];

/** Refused by the API server, or told in the status: either way the next good spec is as if they had never been. */
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

/** What is the same for all clusters of one spec, whatever its members are called and wherever they came from. */
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

story.asOnTheLab('whatever was asked for before, what is asked for last is what there is', async (told) => {
  const { kubectl, step } = told;
  await installOperator(told);
  const reference = new Map<Name, object>();
  const become = async (name: string, spec: Name): Promise<void> => {
    await kubectl('apply -f -', applied(name, specs[spec]));
    await declared(kubectl, name).settled(specs[spec].size);
    const generation = await shown(kubectl, `etcdcluster/${name}`, '.metadata.generation');
    await waitFor(kubectl, `etcdcluster/${name}`, field('.status.observedGeneration', generation));
    await waitFor(kubectl, `etcdcluster/${name}`, inSeconds(120, field('.status.currentVersion', specs[spec].version)));
    await declared(kubectl, name).settled(specs[spec].size);
  };
  await step('each of them, asked for at once', async () => {
    for (const spec of Object.keys(specs) as Name[]) {
      await become(`ref-${spec}`, spec);
      reference.set(spec, await shapeOf(kubectl, `ref-${spec}`));
      await kubectl(`delete etcdcluster ref-${spec} --wait=false`);
    }
  });
  await become('db', 'plain');
  for (const spec of walk) {
    await step(`then ${spec}`, async () => {
      await become('db', spec);
      expect(await shapeOf(kubectl, 'db')).toEqual(reference.get(spec));
    });
  }
  for (const wrong of bad) {
    await step(`${JSON.stringify(wrong)}, and back`, async () => {
      const spec = { ...specs.tuned, ...wrong };
      const told403 = await kubectl('apply -f -', applied('db', spec)).catch((error: Error) => error.message);
      if (!told403.includes('Invalid value')) await waitFor(kubectl, 'etcdcluster/db', condition('Degraded'));
      await become('db', 'tuned');
      expect(await shapeOf(kubectl, 'db')).toEqual(reference.get('tuned'));
    });
  }
});
