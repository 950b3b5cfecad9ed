import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeCgroup } from '../../tools/cluster/cgroups.ts';
import { kubectl } from '../../tools/cluster/kubectl.ts';
import { layoutOf } from '../../tools/cluster/layout.ts';
import { runningMachine, stopAllMachines } from '../../tools/cluster/machine.ts';
import { unpacked } from '../../tools/debian/packages.ts';
import { processesWith } from '../../tools/lib/processes.ts';
import { attempt, type Ended } from '../../tools/lib/run.ts';
import { type MachineState, machineState } from '../support/machine-state.ts';

const name = 'life';
const layout = layoutOf(name);
const program = join(import.meta.dirname, '../../tools/cluster/main.ts');

const cluster = (...args: readonly string[]): Promise<Ended> =>
  attempt(process.execPath, [program, ...args, '--name', name]);

/** Starts a command and kills it with SIGKILL after some time. */
async function killedAfter(millis: number, command: string): Promise<void> {
  const child = spawn(process.execPath, [program, command, '--name', name], { stdio: 'ignore' });
  const exit = once(child, 'exit');
  await Promise.race([sleep(millis), exit]);
  child.kill('SIGKILL');
  await exit;
}

function isKubeProxy(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'kube-proxy';
  } catch {
    return false; // the process has ended
  }
}
const proxiesOnNode1 = (): readonly number[] =>
  processesWith('ETCD_OPERATOR_MACHINE', (value) => value === `${layout.state}/node1`).filter(isKubeProxy);

/** The packet filter rules for Services on node1. */
async function rulesOnNode1(): Promise<string> {
  const inNode1 = ['-t', String(runningMachine(layout, 'node1')), '-n'];
  const list = [...unpacked('usr/sbin/nft'), 'list', 'table', 'ip', 'kube-proxy'];
  return (await attempt('nsenter', [...inNode1, ...list])).stdout;
}

const identity = (): Promise<string> =>
  kubectl(layout, ['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}']);
const nodesReady = (): Promise<string> =>
  kubectl(layout, ['wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=120s']);

describe('the test cluster', () => {
  let untouched: MachineState;
  beforeAll(async () => {
    await cluster('down');
    untouched = await machineState(name);
    expect(untouched.processes).toEqual([]);
  });
  afterAll(() => cluster('down'));

  it('comes up, prints its KUBECONFIG, and is reused by a second up', async () => {
    const first = await cluster('up');
    expect(first.stdout).toMatch(/^Cluster "life" is up after \d/);
    expect(first.stdout).toContain(`export KUBECONFIG=${layout.kubeconfig}\n`);
    expect(await nodesReady()).toContain('node/node3 condition met');
    const before = await identity();
    expect((await cluster('up')).stdout).toMatch(/^Cluster "life" was up already/);
    expect(await identity()).toBe(before);
  });

  it('restarts stopped nodes on up', async () => {
    await cluster('stop-node', 'node1');
    expect(runningMachine(layout, 'node1')).toBeUndefined();
    await cluster('up');
    expect(runningMachine(layout, 'node1')).toBeDefined();
    expect(await nodesReady()).toContain('node/node1 condition met');
  });

  it('keeps Services reachable after a kube-proxy is killed and restarted', async () => {
    await expect.poll(rulesOnNode1, { timeout: 60_000 }).toContain(layout.apiServiceAddress);
    const proxies: number[] = [];
    // kube-proxy has child processes of the same name for a moment.
    await expect.poll(() => proxies.splice(0, 9, ...proxiesOnNode1()) && proxies, { timeout: 60_000 }).toHaveLength(1);
    for (const pid of proxies) process.kill(pid, 'SIGKILL');
    await expect
      .poll(() => readFileSync(join(layout.state, 'node1/var/log/kube-proxy.log'), 'utf8'), { timeout: 60_000 })
      .toMatch(/kube-proxy ended; restarting[\s\S]*Caches are synced/);
    const probe = ['--command', '--', 'nc', '-w', '5', layout.apiServiceAddress, '443', '-e', 'true'];
    const onNode1 = JSON.stringify({ spec: { nodeName: 'node1' } });
    await kubectl(layout, ['run', 'probe', '--image=busybox', '--restart=Never', `--overrides=${onNode1}`, ...probe]);
    await kubectl(layout, ['wait', 'pod/probe', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=120s']);
  });

  it('changes no settings, rules or mounts of the host while it is up', async () => {
    const { settings, rules, mounts } = await machineState(name);
    expect({ settings, rules, mounts }).toEqual({ settings: untouched.settings, rules: untouched.rules, mounts: [] });
  });

  it('comes up again after a reboot of the host', async () => {
    await stopAllMachines(layout);
    await removeCgroup(layout.link);
    expect(existsSync(layout.state)).toBe(true);
    expect((await cluster('up')).stdout).toMatch(/^Cluster "life" is up after/);
  });

  it('comes up after down was killed at any point', async () => {
    for (const millis of [250, 300, 350, 400, 450]) await killedAfter(millis, 'down');
    expect((await cluster('up')).stdout).toMatch(/^Cluster "life" (?:is up|was up)/);
    expect(await nodesReady()).toContain('condition met');
  });

  it('leaves no process, mount, interface, route, rule, cgroup, file or setting after down', async () => {
    expect((await cluster('down')).code).toBe(0);
    expect(await machineState(name)).toEqual(untouched);
    expect((await cluster('down')).code).toBe(0);
  });

  for (const millis of [400, 800, 1500, 4000]) {
    it(`leaves nothing after down if up was killed after ${millis} ms`, async () => {
      await killedAfter(millis, 'up');
      expect((await cluster('down')).code).toBe(0);
      expect(await machineState(name)).toEqual(untouched);
    });
  }

  it('comes up after a killed up', async () => {
    await killedAfter(2500, 'up');
    expect((await cluster('up')).stdout).toMatch(/^Cluster "life" is up after/);
    await cluster('down');
  });
});

describe('the cluster command fails with one sentence and changes nothing', () => {
  it('if a privilege is missing', async () => {
    const without = ['--bounding-set=-all', '--inh-caps=-all', process.execPath, program, 'up', '--name', name];
    const ended = await attempt('setpriv', without);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^This kernel or container does not allow new namespaces: .*\n$/);
    expect(existsSync(layout.state)).toBe(false);
  });

  it('if the cluster name is invalid', async () => {
    const ended = await attempt(process.execPath, [program, 'up', '--name', 'Not_A_Name']);
    expect(ended.stderr).toMatch(/^"Not_A_Name" cannot be a cluster's name: .*\n$/);
  });

  it('if the node does not exist', async () => {
    const ended = await cluster('stop-node', 'node9');
    expect(ended.stderr).toBe('No node "node9": the nodes are node1, node2, node3.\n');
  });
});
