import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningIn } from '../../lab/cli/state.ts';
import { LabHome } from '../support/lab-home.ts';
import { until } from '../support/until.ts';

const home = LabHome.withBuilt(['3.6.16', '3.7.3']);
const outputFile = join(home.directory, 'output');
const output = (): string => readFileSync(outputFile, 'utf8');
const start = (...args: readonly string[]): ChildProcess => home.command(args, openSync(outputFile, 'w'));

async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** Runs a command to its end and returns its exit code. The output is in `output()`. */
const run = (...args: readonly string[]): Promise<number | null> => codeOf(start(...args));

/** The last screen that was sent to a terminal. The lab draws the whole screen each time. */
function lastScreen(sent: string): readonly string[] {
  const frame = sent.split('\u001B[H').findLast((each) => each.includes('\u001B[J')) ?? '';
  return frame.slice(0, frame.indexOf('\u001B[J')).replaceAll('\u001B[K', '').split(/\r+\n/);
}

/** A killed process is in /proc until the kernel has removed it. */
const untilGone = (): Promise<true> =>
  until('all processes and mounts are gone', async () => (home.leftovers().length === 0 ? true : undefined), {
    seconds: 20,
  });

beforeAll(() => home.giveToUser());
afterAll(async () => {
  if (runningIn(home.state) !== undefined) await run('down');
  rmSync(home.directory, { recursive: true, force: true });
});

describe('a lab that cannot create namespaces', () => {
  const unshare = join(home.directory, 'bin/unshare');
  beforeAll(() => {
    writeFileSync(unshare, '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n');
    chmodSync(unshare, 0o755);
  });
  afterAll(() => rmSync(unshare));

  it('prints the reason and exits', async () => {
    expect(await run()).toBe(1);
    expect(output()).toMatch(/cannot create namespaces for the lab's pods: unshare failed: Operation not permitted/);
    await untilGone();
  });

  it('prints the reason and exits in the background too', async () => {
    expect(await run('--detach')).toBe(1);
    expect(output()).toMatch(/cannot create namespaces for the lab's pods.*the lab did not start/s);
    await untilGone();
  });
});

describe('a lab on a machine with mounts below /usr/lib', () => {
  /** As WSL has them in /usr/lib/wsl: a user namespace can bind /usr/lib only together with the mounts below it. */
  const mount = 'mount --bind /usr/lib/os-release /usr/lib/os-release && exec "$@"';
  const inMountNamespace = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh'];

  it('binds them into its containers, and its cluster becomes healthy', async () => {
    const lab = home.command(['--etcd-version', '3.7.3'], openSync(outputFile, 'w'), inMountNamespace);
    const ended = codeOf(lab);
    await until('the cluster is healthy', async () => output().includes('healthy: 3 of 3 members ready') || undefined);
    lab.kill('SIGINT');
    expect(await ended).toBe(0);
    await untilGone();
    expect(await run('reset')).toBe(0);
  });
});

describe('a lab that is stopped', () => {
  const [unshare, begun, mayContinue] = ['bin/unshare', 'begun', 'may-continue'].map((name) =>
    join(home.directory, name),
  );
  beforeAll(() => {
    const wait = `: > ${begun}\nwhile [ ! -e ${mayContinue} ]; do sleep 0.1; done`;
    writeFileSync(String(unshare), `#!/bin/sh\n${wait}\nexec /usr/bin/unshare "$@"\n`, { mode: 0o755 });
  });
  afterAll(() => rmSync(String(unshare)));

  it('exits before it is up', async () => {
    const lab = start('--empty');
    const ended = codeOf(lab);
    await until('the start has begun', async () => existsSync(String(begun)) || undefined);
    lab.kill('SIGINT');
    writeFileSync(String(mayContinue), '');
    expect(await ended).toBe(0);
    expect(output()).not.toContain('export KUBECONFIG');
    await untilGone();
  });
});

describe('a lab on a terminal', () => {
  const shown: string[] = [];
  let lab: ChildProcess;

  it('shows live how a cluster of the requested API and version becomes healthy', async () => {
    // A relative path, as typed in the directory above.
    const args = ['--state', home.state.slice(1), '--dialects', 'improbable', '--etcd-version', '3.6.16'];
    lab = home.inTerminal(args, { columns: 120, rows: 40 });
    lab.stdout?.setEncoding('utf8').on('data', (text: string) => shown.push(text));
    const lines = await until('the cluster is healthy and the hints are shown', async () => {
      if (lab.exitCode !== null) throw new Error(shown.join(''));
      const now = lastScreen(shown.join(''));
      const isHealthy = now[1] === '  healthy' && !now[0]?.endsWith('?');
      return now.some((line) => line.startsWith('Then try')) && isHealthy ? now : undefined;
    });
    expect(lines[0]).toMatch(
      /^EtcdCluster my-etcd of etcd\.improbable\.io: 3 of 3 members ready, etcd 3\.6\.16, revision \d+$/,
    );
    expect(lines[1]).toBe('  healthy');
    expect(lines.filter((line) => /^ {2}● {2}my-etcd-[012] {2}3\.6\.16 {2}(leader|voter)$/.test(line))).toHaveLength(3);
    expect(lines).toContain(`  export KUBECONFIG=${home.state}/kubeconfig`);
    expect(lines).toContain('  kubectl scale ietcd my-etcd --replicas=5');
  });

  it('restores the terminal and leaves no process when it is interrupted twice', async () => {
    const ended = codeOf(lab);
    lab.stdin?.write('\u0003\u0003');
    await ended;
    const [before, ...since] = shown.join('').split('\u001B[?1049');
    expect([before, since.map((text) => text[0])]).toEqual(['', ['h', 'l']]); // to the alternate screen and back
    await untilGone();
  });
});

describe('a lab in the background', () => {
  it('prints what to export, and keeps running', async () => {
    expect(await run('--detach', '--empty')).toBe(0);
    expect(output()).toContain(`export KUBECONFIG=${home.state}/kubeconfig`);
    expect(runningIn(home.state)).toMatchObject({ nodes: 3, isReady: true });
  });

  it('is shown by lab status', async () => {
    expect(await run('status')).toBe(0);
    expect(output()).toMatch(`A lab with 3 nodes is running as process ${runningIn(home.state)?.pid}.`);
    expect(output()).toContain(`export KUBECONFIG=${home.state}/kubeconfig`);
  });

  it('is the only one in its state directory, and keeps its log', async () => {
    const log = readFileSync(join(home.state, 'lab.log'), 'utf8');
    for (const args of [[], ['--detach']]) {
      expect(await run(...args)).toBe(1);
      expect(output()).toContain(`as process ${runningIn(home.state)?.pid}: stop it with "lab down"`);
    }
    expect(readFileSync(join(home.state, 'lab.log'), 'utf8').startsWith(log)).toBe(true);
  });

  it('lists its nodes if an unknown node is stopped', async () => {
    expect(await run('power-off', 'nosuch')).toBe(1);
    expect(output()).toContain('node "nosuch" not found: the nodes are node1, node2, node3');
    expect(await run('power-off', 'node2')).toBe(0);
  });

  it('stops on lab down and keeps its state', async () => {
    expect(await run('down')).toBe(0);
    await untilGone();
    expect(await run('status')).toBe(0);
    expect(output()).toBe(`No lab is running in ${home.state}.\n`);
  });

  it('moves to another port if its own is taken', async () => {
    const before = Number(readFileSync(join(home.state, 'port'), 'utf8'));
    const other = createServer().listen(before, '127.0.0.1');
    await once(other, 'listening');
    expect(await run('--detach', '--empty')).toBe(0);
    const port = Number(readFileSync(join(home.state, 'port'), 'utf8'));
    expect(port).not.toBe(before);
    expect(output()).toContain(`Port ${before} is taken: the API server now listens on ${port}`);
    expect(readFileSync(join(home.state, 'kubeconfig'), 'utf8')).toContain(`https://127.0.0.1:${port}`);
    other.close();
  });

  it('leaves nothing after lab reset', async () => {
    expect(await run('reset')).toBe(0);
    expect(existsSync(join(home.state, 'apiserver'))).toBe(false);
    await untilGone();
  });
});
