import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type EtcdCluster, startEtcd } from '../test/support/etcd-cluster.ts';
import { agentFlags, bucket, type StoreServer, s3Keys, startS3 } from '../test/support/store-servers.ts';
import { bundle, bundleOf } from '../tools/bundle.ts';
import { run } from '../tools/lib/run.ts';
import { type Amount, detailsOf, type Figure, isWithinLimit, type Race, tableOf } from './support/figures.ts';

/**
 * Measures a snapshot of 1 GiB to a local S3 server: the agent, against `etcdctl snapshot save` followed by a PUT with
 * `curl`. All files are in memory, so that disk speed does not matter.
 */
const pairs = Number(process.argv[2] ?? 3);
const mebibytes = Number(process.argv[3] ?? 1024);
const memory = mkdtempSync('/dev/shm/bench-');
const mostMebibytes = 200;
/** The V8 flag in the first line of the bundle. */
const imageFlags = ['--max-semi-space-size=4'];

async function fill(cluster: EtcdCluster): Promise<void> {
  const etcd = cluster.connect();
  const value = new Uint8Array(1_000_000);
  for (let i = 0; i < mebibytes; i++) {
    crypto.getRandomValues(value.subarray((i % 15) * 65_536, (i % 15) * 65_536 + 65_536));
    await etcd.put(`key/${i}`, value, { timeoutMillis: 60_000 });
  }
}

/** Runs the agent and returns its peak memory in MiB. */
async function byAgent(cluster: EtcdCluster, server: StoreServer): Promise<number> {
  const flags = ['--endpoints', cluster.member(0).endpoint.url, ...agentFlags(server, 'ours.db')];
  const child = spawn(process.execPath, [...imageFlags, bundleOf('etcd-operator'), 'agent', 'save', ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let most = 0;
  const watching = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {} // the process has ended
  }, 20);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(watching);
  if (code !== 0) throw new Error('the agent failed');
  return most;
}

async function byHand(cluster: EtcdCluster, server: StoreServer): Promise<void> {
  const file = join(memory, 'by-hand.db');
  await cluster.etcdctl('snapshot', 'save', file);
  const url = `${server.address.endpoint}/${bucket}/by-hand.db`;
  const signing = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${s3Keys.id}:${s3Keys.secret}`];
  const unsigned = ['-H', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'];
  await run('curl', ['-sS', '--fail-with-body', ...signing, ...unsigned, '-T', file, url]);
  rmSync(file);
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
};

await bundle();
process.env['TMPDIR'] = memory;
try {
  await using cluster = await startEtcd({ version: '3.6.16', flags: ['--quota-backend-bytes=8589934592'] });
  await using server = await startS3({ root: memory });
  await fill(cluster);
  const [ours, hand, memories]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < pairs; i++) {
    hand.push(await seconds(() => byHand(cluster, server)));
    ours.push(await seconds(async () => memories.push(await byAgent(cluster, server))));
  }
  const size = statSync(join(memory, 'buckets', bucket, 'ours.db')).size / 2 ** 20;
  const race: Race = {
    question: `a snapshot of ${size.toFixed(0)} MiB is in the store`,
    limit: 1.25,
    ours,
    byHand: hand,
  };
  const taken: Amount = {
    question: 'peak memory of the agent',
    amount: Math.ceil(Math.max(...memories)),
    unit: 'MiB',
    limit: mostMebibytes,
  };
  const figures: readonly Figure[] = [race, taken];
  process.stdout.write(`${figures.map(detailsOf).join('\n')}\n\n${tableOf(figures)}\n`);
  if (!figures.every(isWithinLimit)) process.exitCode = 1;
} finally {
  rmSync(memory, { recursive: true, force: true });
}
