import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { persistentVolumes } from '../../lab/kinds.ts';
import type { Pod } from '../../src/kube/object.ts';
import { events, nodes, persistentVolumeClaims, pods } from '../../src/kube/resource.ts';
import { etcdImage, isReady, TestLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

let lab: TestLab;
beforeAll(async () => {
  lab = await TestLab.open();
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const members = ['m0', 'm1', 'm2'];

function member(name: string, namespace: string): NonNullable<Pod['spec']> {
  const host = (each: string): string => `http://${each}.peers.${namespace}.svc`;
  const flags = {
    name,
    'data-dir': '/data/etcd',
    'listen-client-urls': 'http://0.0.0.0:2379',
    'listen-peer-urls': 'http://0.0.0.0:2380',
    'advertise-client-urls': `${host(name)}:2379`,
    'initial-advertise-peer-urls': `${host(name)}:2380`,
    'initial-cluster': members.map((each) => `${each}=${host(each)}:2380`).join(','),
  };
  return {
    hostname: name,
    subdomain: 'peers',
    containers: [
      {
        name: 'etcd',
        image: etcdImage,
        terminationMessagePolicy: 'FallbackToLogsOnError',
        command: ['etcd', ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
        readinessProbe: { httpGet: { path: '/health', port: 2379 } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  };
}

/** The PID of a member's process. */
function processOf(name: string): number {
  const pid = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .find((entry) => commandOf(entry).startsWith(`etcd\0--name=${name}\0`) && isInThisLab(entry));
  return Number(pid);
}

const commandOf = (pid: string): string => readOf(pid, 'cmdline');
const isInThisLab = (pid: string): boolean => readOf(pid, 'mountinfo').includes(lab.directory);

function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // the process has just ended
  }
}

/** A killed process is in /proc until the kernel has removed it. */
const untilGone = (): Promise<true> =>
  until('all processes and mounts are gone', async () => (lab.leftovers().length === 0 ? true : undefined), {
    seconds: 5,
  });

const waitsFor =
  (reason: string) =>
  ({ status }: Pod): boolean =>
    status?.containerStatuses?.[0]?.state?.waiting?.reason === reason;

const containerOf = ({ status }: Pod): string | undefined => status?.containerStatuses?.[0]?.containerID;

describe('pods of the lab', () => {
  it('form an etcd cluster by their DNS names, each on the same port', async () => {
    const namespace = await lab.namespace('cluster');
    await lab.service(namespace, 'peers', { clusterIP: 'None', publishNotReadyAddresses: true });
    await lab.service(namespace, 'client', {});
    for (const name of members) await lab.pod(namespace, name, member(name, namespace));
    for (const name of members) await lab.when(namespace, name, isReady);
    const domain = `peers.${namespace}.svc.cluster.local`;
    const found = await lab.shell(namespace, 'srv', { line: `etcdctl --discovery-srv=${domain} put a 1` });
    expect(found).toMatchObject({ exitCode: 0, message: expect.stringMatching(/OK$/) as string });
    const read = await lab.shell(namespace, 'read', {
      line: 'etcdctl --endpoints=http://client:2379 get a --print-value-only',
    });
    expect(read).toEqual({ exitCode: 0, message: '1' });
  });

  it('restart a killed container in the same pod with its data', async () => {
    const namespace = 'cluster';
    const before = await lab.when(namespace, 'm1', isReady);
    expect(before.status?.containerStatuses).toMatchObject([{ restartCount: 0, lastState: {} }]);
    process.kill(processOf('m1'), 'SIGKILL');
    const after = await lab.when(
      namespace,
      'm1',
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1,
    );
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status?.podIP).toBe(before.status?.podIP);
    expect(after.status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      exitCode: 137,
      reason: 'Error',
    });
    const read = await lab.shell(namespace, 'read-from-m1', {
      line: `etcdctl --endpoints=http://m1.peers.${namespace}.svc:2379 get a --print-value-only`,
    });
    expect(read).toEqual({ exitCode: 0, message: '1' });
  });

  it('run as the requested user, are probed by exec, and run their preStop hook', async () => {
    const namespace = await lab.namespace('inside');
    await lab.claim(namespace, 'disk');
    // A probe of a busy machine can take longer than the default of a second; three failures would restart the container.
    const probe = { exec: { command: ['test', '-e', '/disk/file'] }, periodSeconds: 1, timeoutSeconds: 20 };
    const container = {
      ...{
        name: 'c',
        image: 'busybox',
        command: ['sh', '-c', 'trap "exit 0" TERM; id -u > /disk/file; sleep 1000 & wait'],
      },
      startupProbe: probe,
      readinessProbe: probe,
      livenessProbe: probe,
      lifecycle: { preStop: { exec: { command: ['sh', '-c', 'echo stopping >> /disk/file'] } } },
      securityContext: { readOnlyRootFilesystem: true, runAsUser: 1234 },
      volumeMounts: [{ name: 'disk', mountPath: '/disk' }],
    };
    const volumes = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];
    await lab.pod(namespace, 'inside', { terminationGracePeriodSeconds: 30, containers: [container], volumes });
    await lab.when(namespace, 'inside', isReady);
    await lab.server.client.remove(pods, { namespace, name: 'inside' });
    await until('the pod is gone', async () => {
      const { items } = await lab.server.client.list(pods, { namespace });
      return items.length === 0 ? true : undefined;
    });
    const { message } = await lab.shell(namespace, 'reader', { line: 'cat /disk/file', volumes });
    expect(message).toBe('1234\nstopping');
  });

  it('restart a container in place when its image changes', async () => {
    const namespace = await lab.namespace('in-place');
    const container = { name: 'c', image: etcdImage, command: ['sleep', '1000'] };
    await lab.pod(namespace, 'changes', { terminationGracePeriodSeconds: 0, containers: [container] });
    const before = await lab.when(namespace, 'changes', isReady);
    const body = { spec: { containers: [{ name: 'c', image: 'busybox' }] } };
    await lab.server.client.patch(pods, before.metadata, { type: 'strategic', body });
    const after = await lab.when(
      namespace,
      'changes',
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.image === 'busybox',
    );
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status?.containerStatuses?.[0]?.restartCount).toBe(1);
  });

  it('keep the data of a PVC when they are deleted', async () => {
    const namespace = await lab.namespace('disks');
    await lab.claim(namespace, 'disk');
    const volumes = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];
    await lab.shell(namespace, 'writer', { line: 'echo kept > /disk/file', volumes });
    await lab.server.client.remove(pods, { namespace, name: 'writer' });
    await until('the pod is gone', async () => {
      const { items } = await lab.server.client.list(pods, { namespace });
      return items.length === 0 ? true : undefined;
    });
    expect(await lab.shell(namespace, 'reader', { line: 'cat /disk/file', volumes })).toEqual({
      exitCode: 0,
      message: 'kept',
    });
  });

  it('use a PVC while it is expanded', async () => {
    const { client } = lab.server;
    const namespace = await lab.namespace('growing');
    await lab.claim(namespace, 'disk');
    const volumes = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];
    const volumeMounts = [{ name: 'disk', mountPath: '/disk' }];
    const command = ['sh', '-c', 'echo kept > /disk/file; exec sleep 1000'];
    await lab.pod(namespace, 'user', { containers: [{ name: 'c', image: 'busybox', command, volumeMounts }], volumes });
    const before = await lab.when(namespace, 'user', isReady);
    const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
    await client.patch(persistentVolumeClaims, { namespace, name: 'disk' }, { type: 'merge', body });
    const grown = await until('the PVC has the requested size', async () => {
      const claim = await client.get(persistentVolumeClaims, { namespace, name: 'disk' });
      return claim.status?.capacity?.['storage'] === '2Gi' ? claim : undefined;
    });
    expect(grown.status).toMatchObject({ phase: 'Bound' });
    expect(grown.status?.conditions ?? []).toEqual([]);
    const volume = await client.get(persistentVolumes, { name: grown.spec?.volumeName ?? '' });
    expect(volume.spec?.capacity).toEqual({ storage: '2Gi' });
    const after = await lab.when(namespace, 'user', isReady);
    expect(after.status?.containerStatuses).toEqual(before.status?.containerStatuses);
    expect((await lab.shell(namespace, 'reader', { line: 'cat /disk/file', volumes })).message).toBe('kept');
  });

  it('with an unknown image report which images the lab runs', async () => {
    const namespace = await lab.namespace('unknown');
    await lab.pod(namespace, 'web', { containers: [{ name: 'web', image: 'nginx:1.29' }] });
    const { status } = await lab.when(namespace, 'web', waitsFor('ImagePullBackOff'));
    expect(status?.containerStatuses?.[0]?.state?.waiting?.message).toContain('the lab runs only etcd');
  });

  it('wait longer after each crash', async () => {
    const namespace = await lab.namespace('crash');
    await lab.pod(namespace, 'crash', {
      containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'exit 3'] }],
    });
    const { status } = await lab.when(namespace, 'crash', waitsFor('CrashLoopBackOff'));
    expect(status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(status?.containerStatuses?.[0]?.state?.waiting?.message).toContain('back-off 10s');
  });

  it('end although an exec probe timed out and still runs in the container', async () => {
    const namespace = await lab.namespace('unanswered');
    const readinessProbe = { exec: { command: ['sleep', '1000'] }, timeoutSeconds: 1, periodSeconds: 1 };
    const containers = [{ name: 'c', image: 'busybox', command: ['sleep', '1000'], readinessProbe }];
    await lab.pod(namespace, 'asked', { terminationGracePeriodSeconds: 0, containers });
    await until('a probe timed out', async () => {
      const { items } = await lab.server.client.list(events, { namespace });
      return items.some(({ reason }) => reason === 'Unhealthy') || undefined;
    });
    await lab.server.client.remove(pods, { namespace, name: 'asked' });
    await until('the pod is gone', async () => {
      const { items } = await lab.server.client.list(pods, { namespace });
      return items.length === 0 || undefined;
    });
  });

  it('become unready when their node is powered off, and ready again with it', async () => {
    const { spec } = await lab.when('cluster', 'm2', isReady);
    const node = spec?.nodeName ?? '';
    await lab.runCommand('power-off', node);
    await until('the node is unreachable', async () => {
      const { status, spec: now } = await lab.server.client.get(nodes, { name: node });
      const isTainted = now?.taints?.some(({ key, effect }) => key.endsWith('/unreachable') && effect === 'NoExecute');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return isTainted === true && ready?.status === 'Unknown' ? true : undefined;
    });
    await lab.when('cluster', 'm2', (pod) => !isReady(pod));
    await lab.runCommand('power-on', node);
    const after = await lab.when('cluster', 'm2', isReady);
    expect(after.status?.containerStatuses).toMatchObject([{ restartCount: 1 }]);
  });

  it('end with a killed lab, and continue when it starts again', async () => {
    const before = await lab.when('cluster', 'm0', isReady);
    expect(lab.leftovers().join('\n')).toContain('--name=m0'); // the pod is visible to leftovers()
    await lab.end('SIGKILL');
    await untilGone();
    await lab.start();
    // The pod's address may be the same: addresses are allocated in order.
    const after = await lab.when('cluster', 'm0', (pod) => isReady(pod) && containerOf(pod) !== containerOf(before));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    const read = await lab.shell('cluster', 'read-again', {
      line: 'etcdctl --endpoints=http://client:2379 get a --print-value-only',
    });
    expect(read).toEqual({ exitCode: 0, message: '1' });
    await lab.end('SIGTERM');
    await untilGone();
  });
});
