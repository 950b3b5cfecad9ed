import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceAccounts } from '../../lab/kinds.ts';
import { imageCatalog } from '../../lab/kubelet/image/catalog.ts';
import { LabStreams } from '../../lab/kubelet/node-streams.ts';
import { type Lab, openLab } from '../../lab/lab.ts';
import type { Pod } from '../../src/kube/object.ts';
import { pods } from '../../src/kube/resource.ts';
import { debianRoot } from '../../tools/debian/packages.ts';
import { type LoneApiServer, loneApiServer } from '../support/lone-api-server.ts';
import { until } from '../support/until.ts';

const namespace = 'default';
const directory = mkdtempSync(join(tmpdir(), 'lab-streams-'));
const stop = new AbortController();
let server: LoneApiServer;
let lab: Lab;
let ended: Promise<void>;
let streams: LabStreams;

beforeAll(async () => {
  mkdirSync(join(directory, 'bin'));
  copyFileSync(join(debianRoot(), 'bin/busybox'), join(directory, 'bin/busybox'));
  process.env['PATH'] = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  server = await loneApiServer();
  const operator = { program: '', package: directory };
  const findImage = imageCatalog({ cache: directory, print: () => undefined, make: [], operator });
  const api = { host: '127.0.0.1', port: server.port };
  const onFailure = (): void => undefined;
  lab = await openLab({ client: server.client, api, nodes: 1, state: directory, findImage, onFailure });
  ended = lab.run(stop.signal);
  streams = new LabStreams(lab);
  const metadata = { namespace, name: 'default' };
  await server.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  await run('writer', { command: ['sh', '-c', 'echo one; echo two >&2; echo three; exec sleep 1000'] });
  await run('shell', { command: ['sh'], stdin: true, tty: true });
});
afterAll(async () => {
  stop.abort();
  await ended;
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function run(name: string, container: object): Promise<void> {
  const spec = {
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'busybox', ...container }],
  };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, spec };
  await server.client.create(pods, pod);
  await until(`${name} runs`, async () => {
    const { status } = await server.client.get(pods, { namespace, name });
    return status?.containerStatuses?.[0]?.state?.running;
  });
}

const at = (pod: string) => ({ namespace, pod, container: 'c' });
const plain = { follow: false, previous: false, timestamps: false };

async function exec(line: string, more: { stdin?: Readable; tty?: boolean } = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { stdout, stderr, tty: false, ...more };
  const code = await streams.exec(at('writer'), ['sh', '-c', line], terminal);
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

describe('a container of the lab', () => {
  it('has a log that can be read in part', async () => {
    const whole = await until('all lines are in the log', async () => {
      const log = await text(await streams.logs(at('writer'), plain));
      return log.split('\n').length === 4 ? log : undefined;
    });
    expect(whole.trim().split('\n').toSorted()).toEqual(['one', 'three', 'two']);
    const tail = await text(await streams.logs(at('writer'), { ...plain, tailLines: 1, timestamps: true }));
    expect(tail).toMatch(/^\d{4}-\d\d-\d\dT\S+Z \w+\n$/);
    expect(await text(await streams.logs(at('writer'), { ...plain, limitBytes: 2 }))).toHaveLength(2);
  });

  it('runs commands with exec and returns their exit codes', async () => {
    expect(await exec('echo out; echo err >&2; exit 7')).toEqual({ code: 7, out: 'out\n', err: 'err\n' });
    expect((await exec('hostname; ps | grep -c "sleep 1000"')).out).toMatch(/^writer\n/);
  });

  it('passes stdin to a command', async () => {
    const stdin = new PassThrough();
    stdin.end('typed\n');
    expect(await exec('read line; echo got $line', { stdin })).toMatchObject({ code: 0, out: 'got typed\n' });
  });

  it('gives a command a terminal', async () => {
    expect((await exec('test -t 0 && test -t 1 && echo terminal', { tty: true })).out).toContain('terminal');
  });

  it('can be attached to, and attach ends with the program', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const attached = streams.attach(at('shell'), { stdin, stdout, tty: true });
    stdin.write('echo $((20 + 3))\n');
    let output = '';
    stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until('the shell has answered', async () => (output.includes('23') ? true : undefined));
    stdin.write('exit 4\n');
    expect(await attached).toBe(4);
  });

  it('keeps its stdin open when an attached client leaves, unless stdinOnce is set', async () => {
    const command = ['sh', '-c', 'while read line; do echo read $line; done; echo no more; sleep 1000'];
    await run('reader', { command, stdin: true });
    await run('reader-once', { command, stdin: true, stdinOnce: true });
    const send = async (pod: string, line: string): Promise<unknown> => {
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      const attached = streams.attach(at(pod), { stdin, stdout, tty: false });
      stdin.end(`${line}\n`);
      return attached;
    };
    const logged = (pod: string, lines: string): Promise<unknown> =>
      until(
        'the lines are in the log',
        async () => (await text(await streams.logs(at(pod), plain))) === lines || undefined,
        {
          seconds: 10,
        },
      );
    expect(await send('reader', 'one')).toBe(0);
    expect(await send('reader', 'two')).toBe(0);
    await logged('reader', 'read one\nread two\n');
    void send('reader-once', 'one');
    await logged('reader-once', 'read one\nno more\n');
  });

  it('is reachable by dial', async () => {
    await run('serves', { command: ['sh', '-c', 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'] });
    const { status } = await server.client.get(pods, { namespace, name: 'serves' });
    const socket = await until('the server listens', () => lab.dial(status?.podIP ?? '', 8080));
    socket.end('GET /index.html HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toContain('hello');
  });
});
