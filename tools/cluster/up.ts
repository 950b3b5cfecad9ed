import { existsSync } from 'node:fs';
import { link, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackDebian } from '../debian/packages.ts';
import { makeRegistrySeed, registrySeed } from '../images/seed-registry.ts';
import { run } from '../lib/run.ts';
import { buildPrograms } from '../programs/build.ts';
import { makeCredentials } from './credentials.ts';
import { remove } from './down.ts';
import { writeFiles } from './files.ts';
import { apiAnswers, kubectl } from './kubectl.ts';
import type { Layout } from './layout.ts';
import { directoryOf, runningMachine, runningSwitch, startSwitch } from './machine.ts';
import { controlPlaneFiles, nodeFiles } from './machine-files.ts';
import { connectHost } from './network.ts';
import { startNode, switchOn } from './nodes.ts';
import { assertAddressesFree, assertKernel, assertPrivileges } from './preflight.ts';

export const controlPlane = 'control-plane';

/** Checks the requirements, then builds and unpacks all missing programs and packages. */
export async function prepare(layout: Layout): Promise<void> {
  assertPrivileges();
  await unpackDebian();
  await assertKernel(layout);
  await buildPrograms();
  await makeRegistrySeed();
}

/** Starts the cluster. A running cluster that answers is kept; any other state is replaced by a new cluster. */
export async function bringUp(layout: Layout): Promise<'started' | 'was up'> {
  if (await isUp(layout)) {
    for (const node of layout.nodes) await startNode(layout, node.name);
    return 'was up';
  }
  await remove(layout);
  await assertAddressesFree(layout);
  await start(layout);
  await waitUntilReady(layout);
  await writeFile(readyMarker(layout), '');
  return 'started';
}

/** The file that marks a complete start. A cluster with an interrupted start may answer, but be incomplete. */
const readyMarker = (layout: Layout): string => join(layout.state, 'useful');

export const isUp = async (layout: Layout): Promise<boolean> =>
  existsSync(readyMarker(layout)) &&
  runningSwitch(layout) !== undefined &&
  runningMachine(layout, controlPlane) !== undefined &&
  (await apiAnswers(layout));

async function start(layout: Layout): Promise<void> {
  const credentials = await makeCredentials(layout);
  const controlPlaneDirectory = directoryOf(layout, controlPlane);
  await writeFiles(controlPlaneDirectory, { ...controlPlaneFiles(layout), ...credentials.controlPlane });
  for (const node of layout.nodes) {
    await writeFiles(directoryOf(layout, node.name), { ...nodeFiles(layout, node), ...credentials.nodes[node.name] });
  }
  await writeFile(layout.kubeconfig, credentials.admin, { mode: 0o600 });
  await copyRegistry(join(controlPlaneDirectory, 'var/lib/registry'));

  await connectHost(layout, await startSwitch(layout));
  await switchOn(layout, controlPlane, layout.controlPlane);
  await Promise.all(layout.nodes.map((node) => switchOn(layout, node.name, node.address)));
}

/** Copies the registry seed. Blobs never change, so they are shared with the seed; tags are copied. */
async function copyRegistry(storage: string): Promise<void> {
  const inside = 'docker/registry/v2';
  await mkdir(join(storage, inside), { recursive: true });
  await run('cp', ['-a', join(registrySeed(), inside, 'repositories'), join(storage, inside, 'repositories')]);
  await linkTree(join(registrySeed(), inside, 'blobs'), join(storage, inside, 'blobs'));
}

async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    await (entry.isDirectory() ? linkTree(source, target) : link(source, target));
  }
}

/** Waits until every node is Ready and a pod has resolved a name by the cluster's DNS. */
async function waitUntilReady(layout: Layout): Promise<void> {
  while (!(await apiAnswers(layout))) await sleep(100);
  await kubectl(layout, ['apply', '-f', '-'], addons);
  const nodes = layout.nodes.map((node) => `node/${node.name}`);
  await kubectl(layout, ['wait', ...nodes, '--for=create', '--timeout=60s']);
  await kubectl(layout, ['wait', ...nodes, '--for=condition=Ready', '--timeout=60s']);
  await kubectl(layout, ['wait', 'serviceaccount/default', '--for=create', '--timeout=60s']);
  const name = 'is-the-cluster-useful';
  const question = ['--command', '--', 'nslookup', 'kubernetes.default.svc.cluster.local'];
  await kubectl(layout, ['run', name, '--image=busybox', '--restart=Never', ...question]);
  await kubectl(layout, ['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s']);
  await kubectl(layout, ['delete', 'pod', name, '--now', '--wait=false']);
}

/**
 * Local-path volumes: directories created and removed by a pod on their node, bound to the node of the first consumer.
 */
const addons = `apiVersion: v1
kind: Namespace
metadata: { name: local-path-storage }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: local-path-config, namespace: local-path-storage }
data:
  setup: mkdir -m 0777 -p "$VOL_DIR"
  teardown: rm -rf "$VOL_DIR"
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local-path
  annotations: { storageclass.kubernetes.io/is-default-class: "true" }
provisioner: rancher.io/local-path
volumeBindingMode: WaitForFirstConsumer
reclaimPolicy: Delete
`;
