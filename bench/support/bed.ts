import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { KubeClient } from '../../src/kube/client.ts';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { type Api, coreos, improbable } from '../../test/support/apis.ts';
import { type Kubectl, kubectlIn } from '../../test/support/kubectl.ts';
import { installFor } from '../../test/support/operator.ts';
import { kubectlPath } from '../../tools/cluster/kubectl.ts';
import { type Layout, layoutOf } from '../../tools/cluster/layout.ts';
import { runMain } from '../../tools/lib/main.ts';
import { detailsOf, type Figure, isWithinLimit, tableOf } from './figures.ts';

/** The environment of a benchmark: a namespace of the test cluster with the operator installed as users install it. */
export interface Bed {
  readonly layout: Layout;
  readonly namespace: string;
  /** The API of the clusters. */
  readonly api: Api;
  readonly kubectl: Kubectl;
  readonly client: KubeClient;
  /** The number of measured pairs. */
  readonly pairs: number;
}

export type Benchmark = (bed: Bed) => Promise<readonly Figure[]>;

/** Runs benchmarks one after the other and prints their figures: `node bench/….ts [cluster] [pairs] [api]`. */
export const runBenchmarks = (benchmarks: readonly Benchmark[]): Promise<void> =>
  runMain(async () => {
    const [name = 'dev', pairs = '5', api = 'coreos'] = process.argv.slice(2);
    const figures = await onBed(layoutOf(name), { pairs: Number(pairs), api: apiNamed(api) }, async (bed) => {
      const found: Figure[] = [];
      for (const benchmark of benchmarks) found.push(...printed(await benchmark(bed)));
      return found;
    });
    process.stdout.write(`\n${tableOf(figures)}\n`);
    if (!figures.every(isWithinLimit)) process.exitCode = 1;
  });

const printed = (figures: readonly Figure[]): readonly Figure[] => {
  for (const figure of figures) process.stdout.write(`${detailsOf(figure)}\n`);
  return figures;
};

function apiNamed(name: string): Api {
  const api = [coreos, improbable].find((each) => each.name === name);
  if (api === undefined) throw new Error(`unknown API "${name}": use coreos or improbable`);
  return api;
}

type Choice = Pick<Bed, 'pairs' | 'api'>;

async function onBed<T>(layout: Layout, { pairs, api }: Choice, use: (bed: Bed) => Promise<T>): Promise<T> {
  process.env['KUBECONFIG'] = layout.kubeconfig;
  process.env['TEST_CLUSTER'] = layout.name;
  process.env['PATH'] = `${dirname(kubectlPath())}:${process.env['PATH']}`;
  const namespace = `bench-${randomBytes(3).toString('hex')}`;
  const kubectl = kubectlIn(namespace);
  const connection = connectTo(await fromKubeconfig(layout.kubeconfig), { userAgent: 'etcd-operator-bench' });
  try {
    await prepare(kubectl, { namespace, api });
    return await use({
      layout,
      namespace,
      api,
      kubectl,
      pairs,
      client: new HttpKubeClient(connection, { fieldManager: 'bench' }),
    });
  } finally {
    await kubectl(`delete namespace ${namespace} --wait=false`);
    await connection.close();
  }
}

const definitions = {
  coreos: ['coreos/etcd-operator-crd.yaml'],
  improbable: ['improbable/crd/etcdclusters.yaml', 'improbable/crd/etcdpeers.yaml'],
} as const;

async function prepare(kubectl: Kubectl, { namespace, api }: Pick<Bed, 'namespace' | 'api'>): Promise<void> {
  for (const file of definitions[api.name])
    await kubectl(`apply --server-side -f ${join(import.meta.dirname, '../../examples', file)}`);
  await kubectl(`create namespace ${namespace}`);
  await kubectl('wait serviceaccount/default --for=create --timeout=30s');
  await installFor(api, { kubectl, namespace });
}
