import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../src/core/desired/manifest.ts';
import { memberPod } from '../src/core/desired/pod.ts';
import { clientService, peerService } from '../src/core/desired/services.ts';
import type { CarrierName } from '../src/core/model/cluster.ts';
import { coreos } from '../src/dialects/coreos-v1beta2/dialect.ts';
import type { KubeClient } from '../src/kube/client.ts';
import { kubectl } from '../tools/cluster/kubectl.ts';
import { layoutOf } from '../tools/cluster/layout.ts';
import { etcdVersions } from '../tools/programs/catalog.ts';
import { report, secondsUntilServing, withClient } from './support.ts';

/**
 * How long until three members serve: a resource that the operator sees, against the same pods and services applied by
 * hand. Interleaved, so that both meet the same machine. Needs the test cluster; installs the operator in a namespace.
 */
const pairs = Number(process.argv[3] ?? 5);
const layout = layoutOf(process.argv[2] ?? 'dev');
const namespace = 'bench';
const version = etcdVersions.at(-1) ?? '';

const resource = (name: string, uid: string): object => ({
  apiVersion: `${coreos.group}/${coreos.version}`,
  kind: coreos.kind,
  metadata: { name, namespace, uid },
  spec: { size: 3, version },
});

/** What the operator would make, with nobody as its owner. */
function manifestsByHand(name: string): readonly object[] {
  const read = coreos.read(resource(name, 'by-hand'));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  const members = [0, 1, 2].map((i) => `${name}-${i}` as CarrierName);
  const founders = members.map((member) =>
    memberPod(blueprint, {
      ...{ name: member, version: blueprint.intent.version },
      join: { as: 'founder', of: { members, token: name } },
    }),
  );
  return [peerService(blueprint), clientService(blueprint), ...founders].map(withoutOwner);
}

const withoutOwner = (manifest: Manifest): object => {
  const { ownerReferences: _, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
};

async function measure(client: KubeClient, name: string, documents: readonly object[]): Promise<number> {
  const began = performance.now();
  await kubectl(layout, ['apply', '-f', '-'], documents.map((each) => JSON.stringify(each)).join('\n---\n'));
  const seconds = await secondsUntilServing(client, {
    namespace,
    labelSelector: `etcd_cluster=${name}`,
    size: 3,
    began,
  });
  await kubectl(
    layout,
    ['delete', '-f', '-', '--now', '--wait=true'],
    documents.map((each) => JSON.stringify(each)).join('\n---\n'),
  );
  await kubectl(layout, [
    '-n',
    namespace,
    'wait',
    'pods',
    '-l',
    `etcd_cluster=${name}`,
    '--for=delete',
    '--timeout=60s',
  ]);
  return seconds;
}

async function install(): Promise<void> {
  const examples = join(import.meta.dirname, '../examples/coreos');
  await kubectl(layout, ['create', 'namespace', namespace]).catch(() => undefined);
  for (const part of ['crd', 'sa', 'role', 'rolebinding', 'deployment']) {
    const manifest = readFileSync(join(examples, `etcd-operator-${part}.yaml`), 'utf8').replaceAll(
      'namespace: default',
      `namespace: ${namespace}`,
    );
    await kubectl(layout, ['-n', namespace, 'apply', '--server-side', '-f', '-'], manifest);
  }
  await kubectl(layout, ['-n', namespace, 'rollout', 'status', 'deployment/etcd-operator', '--timeout=90s']);
}

const unnamed = ({ metadata, ...rest }: { metadata: Record<string, unknown> }): object => {
  const { uid: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
};

await install();
const ours: number[] = [];
const byHand: number[] = [];
await withClient(layout.kubeconfig, async (client) => {
  for (let i = 0; i <= pairs; i++) {
    const name = `b${randomBytes(3).toString('hex')}`;
    const hand = await measure(client, `${name}h`, manifestsByHand(`${name}h`));
    const operator = await measure(client, name, [unnamed(resource(name, '') as never)]);
    if (i > 0) byHand.push(hand); // the first pair pulls images
    if (i > 0) ours.push(operator);
  }
});
report(`three members of etcd ${version} serve`, ours, byHand);
await kubectl(layout, ['delete', 'namespace', namespace, '--wait=false']);
