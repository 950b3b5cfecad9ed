import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningIn } from '../../src/cli/lab/state.ts';
import { LabHome } from '../support/lab-home.ts';
import { until } from '../support/until.ts';

const home = LabHome.withBuilt(['3.6.16', '3.7.3']);
const output = join(home.directory, 'output');
const said = (): string => readFileSync(output, 'utf8');
const start = (...words: readonly string[]): ChildProcess => home.command(words, openSync(output, 'w'));

async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** Lets a command run to its end; gives back its exit code, and what it said is in `said()`. */
const run = (...words: readonly string[]): Promise<number | null> => codeOf(start(...words));

/** What a terminal shows that was sent this: the lab draws the whole screen each time. */
function lastScreen(sent: string): readonly string[] {
  const frame = sent.split('\u001B[H').findLast((each) => each.includes('\u001B[J')) ?? '';
  return frame.slice(0, frame.indexOf('\u001B[J')).replaceAll('\u001B[K', '').split(/\r+\n/);
}

const untilGone = (): Promise<true> =>
  until('nothing is left', async () => (home.leftovers().length === 0 ? true : undefined), { seconds: 20 });

beforeAll(() => home.handOver());
afterAll(async () => {
  if (runningIn(home.state) !== undefined) await run('down');
  rmSync(home.directory, { recursive: true, force: true });
});

describe('a lab that cannot make namespaces', () => {
  const unshare = join(home.directory, 'bin/unshare');
  beforeAll(() => {
    writeFileSync(unshare, '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n');
    chmodSync(unshare, 0o755);
  });
  afterAll(() => rmSync(unshare));

  it('says why, and ends', async () => {
    expect(await run()).toBe(1);
    expect(said()).toMatch(/could not make namespaces for its pods: unshare failed: Operation not permitted/);
    await untilGone();
  });

  it('does so in the background too', async () => {
    expect(await run('--detach')).toBe(1);
    expect(said()).toMatch(/could not make namespaces for its pods.*the lab did not start/s);
    await untilGone();
  });
});

describe('a lab on a machine with mounts among its libraries', () => {
  /** As Windows has some under /usr/lib/wsl: nobody with fewer rights than their owner may show /usr/lib without them. */
  const mount = 'mount --bind /usr/lib/os-release /usr/lib/os-release && exec "$@"';
  const within = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', mount, 'sh'];

  it('shows them to its containers, and a cluster serves', async () => {
    const lab = home.command(['--etcd-version', '3.7.3'], openSync(output, 'w'), within);
    const ended = codeOf(lab);
    await until('it serves', async () => said().includes('as desired: 3 of 3 members serve') || undefined);
    lab.kill('SIGINT');
    expect(await ended).toBe(0);
    await untilGone();
    expect(await run('reset')).toBe(0);
  });
});

describe('a lab that is told to end', () => {
  const [unshare, begun, mayGoOn] = ['bin/unshare', 'begun', 'may-go-on'].map((name) => join(home.directory, name));
  beforeAll(() => {
    const wait = `: > ${begun}\nwhile [ ! -e ${mayGoOn} ]; do sleep 0.1; done`;
    writeFileSync(String(unshare), `#!/bin/sh\n${wait}\nexec /usr/bin/unshare "$@"\n`, { mode: 0o755 });
  });
  afterAll(() => rmSync(String(unshare)));

  it('does so before it is up', async () => {
    const lab = start('--empty');
    const ended = codeOf(lab);
    await until('it has begun', async () => existsSync(String(begun)) || undefined);
    lab.kill('SIGINT');
    writeFileSync(String(mayGoOn), '');
    expect(await ended).toBe(0);
    expect(said()).not.toContain('export KUBECONFIG');
    await untilGone();
  });
});

describe('a lab in front of a terminal', () => {
  const shown: string[] = [];
  let lab: ChildProcess;

  it('shows live how a cluster of the API and the version that are asked for becomes healthy', async () => {
    // As somebody types it who is in the directory above.
    const words = ['--state', home.state.slice(1), '--dialects', 'improbable', '--etcd-version', '3.6.16'];
    lab = home.inTerminal(words, { columns: 120, rows: 40 });
    lab.stdout?.setEncoding('utf8').on('data', (text: string) => shown.push(text));
    const lines = await until('it is healthy, and says what to try', async () => {
      if (lab.exitCode !== null) throw new Error(shown.join(''));
      const now = lastScreen(shown.join(''));
      const isAsDesired = now[1] === '  healthy, as desired' && !now[0]?.endsWith('?');
      return now.some((line) => line.startsWith('Then try')) && isAsDesired ? now : undefined;
    });
    expect(lines[0]).toMatch(
      /^EtcdCluster my-etcd of etcd\.improbable\.io: 3 of 3 members serve, etcd 3\.6\.16, revision \d+$/,
    );
    expect(lines[1]).toBe('  healthy, as desired');
    expect(lines.filter((line) => /^ {2}● {2}my-etcd-[012] {2}3\.6\.16 {2}(leader|voter)$/.test(line))).toHaveLength(3);
    expect(lines).toContain(`  export KUBECONFIG=${home.state}/kubeconfig`);
    expect(lines).toContain('  kubectl scale ietcd my-etcd --replicas=5');
  });

  it('leaves the terminal as it was, and no process, also when it is told twice to end', async () => {
    const ended = codeOf(lab);
    lab.stdin?.write('\u0003\u0003');
    await ended;
    const [before, ...since] = shown.join('').split('\u001B[?1049');
    expect([before, since.map((text) => text[0])]).toEqual(['', ['h', 'l']]); // to a screen of its own, and back
    await untilGone();
  });
});

describe('a lab in the background', () => {
  it('says what to export, and goes on', async () => {
    expect(await run('--detach', '--empty')).toBe(0);
    expect(said()).toContain(`export KUBECONFIG=${home.state}/kubeconfig`);
    expect(runningIn(home.state)).toMatchObject({ nodes: 3, isWelcoming: true });
  });

  it('says that it runs when it is asked', async () => {
    expect(await run('status')).toBe(0);
    expect(said()).toMatch(`A lab of 3 nodes runs as process ${runningIn(home.state)?.pid}.`);
    expect(said()).toContain(`export KUBECONFIG=${home.state}/kubeconfig`);
  });

  it('is the only one of its state directory, and keeps its log', async () => {
    const log = readFileSync(join(home.state, 'lab.log'), 'utf8');
    for (const words of [[], ['--detach']]) {
      expect(await run(...words)).toBe(1);
      expect(said()).toContain(`already, as process ${runningIn(home.state)?.pid}: "lab down" ends it`);
    }
    expect(readFileSync(join(home.state, 'lab.log'), 'utf8').startsWith(log)).toBe(true);
  });

  it('names its nodes to who asks for another', async () => {
    expect(await run('power-off', 'nosuch')).toBe(1);
    expect(said()).toContain('there is no nosuch: the nodes are node1, node2, node3');
    expect(await run('power-off', 'node2')).toBe(0);
  });

  it('ends when it is told to, and keeps its state', async () => {
    expect(await run('down')).toBe(0);
    expect(home.leftovers()).toEqual([]);
    expect(await run('status')).toBe(0);
    expect(said()).toBe(`No lab runs in ${home.state}.\n`);
  });

  it('moves where somebody else has its port now', async () => {
    const before = Number(readFileSync(join(home.state, 'port'), 'utf8'));
    const other = createServer().listen(before, '127.0.0.1');
    await once(other, 'listening');
    expect(await run('--detach', '--empty')).toBe(0);
    const port = Number(readFileSync(join(home.state, 'port'), 'utf8'));
    expect(port).not.toBe(before);
    expect(said()).toContain(`Somebody else has port ${before} now: the API server has moved to ${port}`);
    expect(readFileSync(join(home.state, 'kubeconfig'), 'utf8')).toContain(`https://127.0.0.1:${port}`);
    other.close();
  });

  it('leaves nothing when its state is thrown away', async () => {
    expect(await run('reset')).toBe(0);
    expect(existsSync(join(home.state, 'apiserver'))).toBe(false);
    expect(home.leftovers()).toEqual([]);
  });
});
