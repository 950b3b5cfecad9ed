import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loneApiServer } from '../test/support/lone-api-server.ts';
import { bundle, bundleOf } from '../tools/bundle.ts';
import { runMain, UserError } from '../tools/lib/main.ts';
import { buildPrograms } from '../tools/programs/build.ts';
import { controlPlaneEtcd } from '../tools/programs/catalog.ts';
import { AuditLog } from './fleet/audit.ts';
import { createFleet, print } from './fleet/create.ts';
import { apis, Fleet } from './fleet/fleet.ts';
import { hideRun, serviceAccountFiles } from './fleet/in-pod.ts';
import { churn, upgradeAll, withBlackHoles } from './fleet/load.ts';
import type { Bench } from './fleet/measure.ts';
import { Operator } from './fleet/operator.ts';
import { atRest, restart, untilFirstWrite } from './fleet/settled.ts';
import { type Figure, isWithinLimit, tableOf } from './support/figures.ts';

/**
 * Many clusters on one operator: a real kube-apiserver with stand-ins for kubelets and etcd. Everything runs in a
 * network namespace of its own, because every stand-in member has a loopback address with etcd's port.
 */
const insideVariable = 'FLEET_INSIDE';

const { values: options } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100' },
    api: { type: 'string', default: 'coreos' },
    idle: { type: 'string', default: '60' },
    churn: { type: 'string' },
    phases: { type: 'string', default: 'idle,change,holes,upgrade,restart,churn' },
    node: { type: 'string', default: '' },
    counts: { type: 'boolean', default: false },
  },
});

/** Runs this program again in a network namespace. Root needs no user namespace. */
function runInside(): void {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const again = [process.execPath, ...process.argv.slice(1)];
  const env = { ...process.env, [insideVariable]: '1' };
  const { status } = spawnSync('unshare', [...user, '--net', '--mount', '--', ...again], { stdio: 'inherit', env });
  process.exitCode = status ?? 1;
}

async function main(): Promise<void> {
  await buildPrograms(({ name }) => ['kubernetes', `etcd-${controlPlaneEtcd}`].includes(name));
  if (process.env[insideVariable] === undefined) return runInside();
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  hideRun();
  const directory = mkdtempSync(join(tmpdir(), 'fleet-'));
  try {
    const figures = await measure(directory);
    process.stdout.write(`${tableOf(figures)}\n`);
    const judged = options.counts ? figures.filter(isCount) : figures;
    if (!judged.every(isWithinLimit)) process.exitCode = 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(directory: string): Promise<readonly Figure[]> {
  const api = Object.values(apis).find(({ name }) => name === options.api);
  if (api === undefined) throw new UserError(`no API ${options.api}`);
  const program = bundleOf('etcd-operator', join(directory, 'app'));
  await bundle(join(directory, 'app'));
  const audit = new AuditLog(directory);
  const disabled = '--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection';
  await using server = await loneApiServer([...audit.flags, disabled]);
  const { client, kubeconfig } = server;
  await using fleet = await Fleet.start(client, api);
  const environment = await serviceAccountFiles(client, server);
  const nodeFlags = options.node.split(' ').filter(Boolean);
  const startOperator = (): Operator => new Operator({ program, environment, api: api.name, nodeFlags });
  const [clusters, idleSeconds] = [Number(options.clusters), Number(options.idle)];
  const counts = { clusters, idleSeconds, churn: Number(options.churn ?? clusters) };
  return await phases({ fleet, audit, kubeconfig, startOperator, ...counts });
}

/** True if a busy machine does not change the figure. With `--counts`, only these have limits. */
const isCount = (figure: Figure): boolean => 'unit' in figure && ['', 'MiB'].includes(figure.unit);

/** Runs the phases of `--phases`, after the creation of the fleet. */
async function phases(bench: Bench): Promise<readonly Figure[]> {
  let operator = bench.startOperator();
  try {
    await operator.ready();
    const empty = operator.memory('VmRSS');
    const { keys, figures: created } = await createFleet(bench, operator);
    const wanted = new Set(options.phases.split(','));
    const figures = [...created];
    const run = async (phase: string, work: () => Promise<readonly Figure[]>): Promise<void> => {
      if (!wanted.has(phase)) return;
      print(`${phase} …`);
      figures.push(...(await work()));
    };
    await run('idle', () => atRest(bench, operator, empty));
    await run('change', () => untilFirstWrite(bench, keys));
    await run('holes', () => withBlackHoles(bench, operator, keys));
    await run('upgrade', () => upgradeAll(bench, operator, keys));
    await run('restart', async () => {
      const restarted = await restart(bench, { operator, keys });
      operator = restarted.operator;
      return restarted.figures;
    });
    await run('churn', () => churn(bench, operator));
    return figures;
  } finally {
    await operator.stop();
  }
}

await runMain(main);
