import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { fromKubeconfig } from '../src/kube/config.ts';
import { connectTo } from '../src/kube/connection.ts';
import { HttpKubeClient } from '../src/kube/http-client.ts';
import type { KubeObject } from '../src/kube/object.ts';
import { namespaced } from '../src/kube/resource.ts';

/**
 * Writes ConfigMaps through the lab's API server, which runs in its own thread, with one open watch. Prints the writes
 * per second, and fails if the watch missed one.
 */
const configMaps = namespaced<KubeObject>({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' });
const writes = 5000;
const writersAtOnce = 32;

const directory = await mkdtemp(join(tmpdir(), 'lab-writes-'));
const server = new Worker(
  `const { workerData, parentPort } = require('node:worker_threads');
  import(workerData.start).then(async ({ startApiServer }) => {
    const { kubeconfig } = await startApiServer({ directory: workerData.directory, listen: { host: '127.0.0.1', port: 0 }, streamsOf: () => undefined });
    parentPort.postMessage(kubeconfig);
  });`,
  { eval: true, workerData: { directory, start: join(import.meta.dirname, '../lab/apiserver/start.ts') } },
);
const kubeconfig = await new Promise<string>((resolve, reject) => {
  server.once('message', resolve);
  server.once('error', reject);
});
const path = join(directory, 'kubeconfig');
await writeFile(path, kubeconfig);
const connection = connectTo(await fromKubeconfig(path), { userAgent: 'bench' });
const client = new HttpKubeClient(connection, { fieldManager: 'bench' });

const { resourceVersion } = await client.list(configMaps, { namespace: 'default' });
const seen = new Set<string>();
const watching = (async () => {
  for await (const event of client.watch(configMaps, { namespace: 'default', resourceVersion })) {
    if (event.type === 'ADDED') seen.add(event.object.metadata.name);
    if (seen.size === writes) return;
  }
})();

let next = 0;
const write = async (): Promise<void> => {
  while (next < writes) {
    const name = `c${next++}`;
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { key: 'value'.repeat(20) },
    };
    await client.create(configMaps, object);
  }
};
const began = performance.now();
await Promise.all(Array.from({ length: writersAtOnce }, write));
const wrote = performance.now() - began;
await Promise.race([watching, sleep(10_000, undefined, { ref: false })]);
process.stdout.write(
  `${Math.round((writes / wrote) * 1000)} writes per second; the watch saw ${seen.size} of ${writes}\n`,
);
if (seen.size !== writes) process.exitCode = 1;
await connection.close();
await server.terminate();
await rm(directory, { recursive: true });
