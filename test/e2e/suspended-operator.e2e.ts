import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { list, patch, read } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { type LogLine, type OperatorProcess, startOperatorProcess } from '../support/own-process.ts';
import { type Story, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';

const suspendedMillis = 60_000;

/** An operator that is suspended when it begins a step of this kind. */
class Suspended {
  readonly process: OperatorProcess;
  readonly lines: LogLine[] = [];
  suspendedAt: number | undefined;

  constructor({ namespace }: Story, stopsAt: string) {
    this.process = startOperatorProcess({ namespace, onLine: (line) => this.#hear(line, stopsAt) });
  }

  get leads(): boolean {
    return this.lines.some(({ msg }) => msg === 'leading');
  }

  /** Waits until it has been suspended for a minute. */
  async minute(): Promise<void> {
    await sleep(Math.max(0, suspendedMillis - (performance.now() - (this.suspendedAt ?? 0))));
  }

  #hear(line: LogLine, stopsAt: string): void {
    this.lines.push(line);
    if (this.suspendedAt !== undefined || line['msg'] !== 'taking step' || line['step'] !== stopsAt) return;
    this.suspendedAt = performance.now();
    this.process.suspend();
  }
}

const so = (what: string, holds: () => boolean): Promise<true> =>
  until(what, async () => holds() || undefined, { seconds: 120 });

/** What only an operator writes, and the members of etcd. */
async function writtenIn(db: DeclaredCluster): Promise<object> {
  const parts = await Promise.all(['pods', 'persistentvolumeclaims'].map((kind) => list(db, `${kind} -l ${db.label}`)));
  const uids = parts.flat().map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  return { uids, status: (await read(db, db.resource)).metadata.resourceVersion, members: await db.ids() };
}

const variable = 'ETCD_MAX_TXN_OPS';
const steps = [
  { kind: 'remove-member', change: { size: 3 }, size: 3 },
  { kind: 'stop-carrier', change: { pod: { etcdEnv: [{ name: variable, value: '256' }] } }, size: 3 },
  { kind: 'discard-carrier', change: { size: 1 }, size: 1 },
] as const;

/** Waits until the change has reached every pod and volume: the status may be the one of before. */
async function reached(db: DeclaredCluster, size: number, isRolled: boolean): Promise<void> {
  await db.voters(size);
  await until(
    'the change has reached all',
    async () => {
      const [pods, claims] = [await list(db, `pods -l ${db.label}`), await list(db, `pvc -l ${db.label}`)];
      const areNew = !isRolled || pods.every((pod) => JSON.stringify(pod).includes(variable));
      return (areNew && pods.length === size && claims.length === size) || undefined;
    },
    { seconds: 120 },
  );
  await db.settled(size);
}

story.asOnTheLab('an operator that was suspended in a step writes nothing more once another leads', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(coreos)(kubectl);
  const operators = [new Suspended(told, steps[0].kind)];
  try {
    await db.apply({ size: 5, version, durable: true, extra: { keepRemovedVolumesSeconds: 0 } });
    await db.settled(5);
    await underTraffic(db, async () => {
      for (const [turn, { kind, change, size }] of steps.entries()) {
        const first = operators.at(-1);
        await step(`it is suspended at ${kind}, and another takes over`, async () => {
          await patch(kubectl, db.resource, { spec: change });
          await so(`the step ${kind} begins`, () => first?.suspendedAt !== undefined);
          const second = new Suspended(told, steps[turn + 1]?.kind ?? 'none');
          operators.push(second);
          await so('another leads', () => second.leads);
          await reached(db, size, turn > 0);
        });
        await step('it goes on after a minute, and ends without having written anything', async () => {
          await first?.minute();
          const before = await writtenIn(db);
          first?.process.resume();
          await first?.process.ended;
          expect(await writtenIn(db)).toEqual(before);
        });
      }
    });
  } finally {
    for (const { process } of operators) await process.kill();
  }
});
