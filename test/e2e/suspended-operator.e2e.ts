import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { list, patch, read } from '../support/api.ts';
import { coreos } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { type LogLine, type OperatorProcess, startOperatorProcess } from '../support/operator-process.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';

const suspendedMillis = 60_000;

/** An operator process that is suspended when it begins a step of this kind. */
class SuspendedOperator {
  readonly process: OperatorProcess;
  readonly lines: LogLine[] = [];
  suspendedAt: number | undefined;

  constructor({ namespace }: StoryContext, stopsAt: string) {
    this.process = startOperatorProcess({ namespace, onLine: (line) => this.#onLine(line, stopsAt) });
  }

  get leads(): boolean {
    return this.lines.some(({ msg }) => msg === 'leading');
  }

  /** Waits until the process has been suspended for a minute. */
  async suspendedForMinute(): Promise<void> {
    await sleep(Math.max(0, suspendedMillis - (performance.now() - (this.suspendedAt ?? 0))));
  }

  #onLine(line: LogLine, stopsAt: string): void {
    this.lines.push(line);
    if (this.suspendedAt !== undefined || line['msg'] !== 'taking step' || line['step'] !== stopsAt) return;
    this.suspendedAt = performance.now();
    this.process.suspend();
  }
}

const untilHolds = (what: string, holds: () => boolean): Promise<true> =>
  until(what, async () => holds() || undefined, { seconds: 120 });

/** The objects and status that an operator writes, and the etcd members. */
async function writtenState(db: DeclaredCluster): Promise<object> {
  const parts = await Promise.all(['pods', 'persistentvolumeclaims'].map((kind) => list(db, `${kind} -l ${db.label}`)));
  const uids = parts.flat().map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  return { uids, status: (await read(db, db.resource)).metadata.resourceVersion, members: await db.ids() };
}

const variable = 'ETCD_MAX_TXN_OPS';
const steps = [
  { kind: 'remove-member', change: { size: 3 }, size: 3 },
  { kind: 'stop-member-pod', change: { pod: { etcdEnv: [{ name: variable, value: '256' }] } }, size: 3 },
  { kind: 'delete-member-pod', change: { size: 1 }, size: 1 },
] as const;

/** Waits until every pod and PVC has the change: the status may be outdated. */
async function changeApplied(db: DeclaredCluster, size: number, isRolled: boolean): Promise<void> {
  await db.voters(size);
  await until(
    'all pods and PVCs have the change',
    async () => {
      const [pods, claims] = [await list(db, `pods -l ${db.label}`), await list(db, `pvc -l ${db.label}`)];
      const areNew = !isRolled || pods.every((pod) => JSON.stringify(pod).includes(variable));
      return (areNew && pods.length === size && claims.length === size) || undefined;
    },
    { seconds: 120 },
  );
  await db.settled(size);
}

story.asOnTheLab(
  'an operator suspended in a step writes nothing after another operator became leader',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(coreos)(kubectl);
    const operators: SuspendedOperator[] = [];
    const start = (stopsAt: string): SuspendedOperator => {
      const operator = new SuspendedOperator(context, stopsAt);
      operators.push(operator);
      return operator;
    };
    try {
      let first = start(steps[0].kind);
      await db.apply({ size: 5, version, durable: true, extra: { keepRemovedVolumesSeconds: 0 } });
      await db.settled(5);
      await underTraffic(db, async () => {
        for (const [turn, { kind, change, size }] of steps.entries()) {
          const second = start('none');
          await step(`the leader is suspended at ${kind}, and another operator takes over`, async () => {
            await patch(kubectl, db.resource, { spec: change });
            await untilHolds(`the step ${kind} begins`, () => first.suspendedAt !== undefined);
            await untilHolds('another operator leads', () => second.leads);
            await changeApplied(db, size, turn > 0);
          });
          await step('resumed after a minute, the old leader exits without a write', async () => {
            await first.suspendedForMinute();
            await second.process.stop(); // from here on only the old leader could write
            const before = await writtenState(db);
            first.process.resume();
            await first.process.ended;
            expect(await writtenState(db)).toEqual(before);
          });
          const next = steps[turn + 1];
          if (next === undefined) return;
          first = start(next.kind);
          await untilHolds('the next operator leads', () => first.leads);
        }
      });
    } finally {
      for (const { process } of operators) await process.kill();
    }
  },
);
