import type { EtcdConnection } from '../etcd/client.ts';
import { hexOf, type MemberId, type MemberStatus } from '../etcd/words.ts';
import { Failure } from '../std/failure.ts';
import { AgentFailure } from './result.ts';
import { minorOf } from './versions.ts';

/** A member that answered. */
export interface Answer {
  readonly url: string;
  readonly etcd: EtcdConnection;
  readonly status: MemberStatus;
}

interface Heard {
  /** Ids of members with a CORRUPT alarm; zero where etcd could not say which member is damaged. */
  readonly corrupt: ReadonlySet<MemberId>;
  readonly warnings: readonly string[];
}

/** Leaves out members whose data etcd itself calls corrupt. Fails if no other member answered, or etcd does not say which it is. */
export async function withoutCorrupt(
  answers: readonly Answer[],
  signal: AbortSignal,
): Promise<{ readonly sound: readonly Answer[]; readonly warnings: readonly string[] }> {
  const { corrupt, warnings } = await heardFrom(answers, signal);
  if (corrupt.size === 0) return { sound: answers, warnings };
  const sound = answers.filter(({ status }) => !corrupt.has(status.memberId));
  if (corrupt.has(0n)) throw refusal('the whole cluster: etcd does not say which member is damaged');
  const names = [...corrupt].map(hexOf).join(', ');
  if (sound.length === 0) throw refusal(`member ${names}, and no other member answered`);
  const warning = `etcd has raised the alarm CORRUPT for member ${names}: the snapshot is of another member; replace the damaged one`;
  return { sound, warnings: [...warnings, warning] };
}

const refusal = (forWhat: string): AgentFailure =>
  new AgentFailure(
    'corrupt',
    `no backup is made of damaged data: etcd has raised the alarm CORRUPT for ${forWhat}; compare the members (etcdctl endpoint hashkv --cluster), replace the damaged one or restore an older backup, and then disarm the alarm (etcdctl alarm disarm)`,
  );

/** From this version on a member's status says which alarms are raised. */
const saysAlarmsSince = 304;
const alarmMillis = 5_000;

async function heardFrom(answers: readonly Answer[], signal: AbortSignal): Promise<Heard> {
  const corrupt = new Set(answers.flatMap(({ status }) => corruptIn(status.errors)));
  const isSaid = answers.some(({ status }) => minorOf(status.version) >= saysAlarmsSince);
  const asked = answers.find(({ status }) => status.leader !== 0n && !status.isLearner);
  if (isSaid || asked === undefined) return { corrupt, warnings: [] };
  try {
    const alarms = await asked.etcd.alarms({ signal, timeoutMillis: alarmMillis });
    return {
      corrupt: new Set(alarms.filter(({ kind }) => kind === 'corrupt').map((each) => each.memberId)),
      warnings: [],
    };
  } catch (thrown) {
    return { corrupt, warnings: [`the alarms of etcd could not be read: ${Failure.from(thrown).message}`] };
  }
}

/** Etcd leaves out the id of a member that it cannot name. */
const corruptIn = (errors: readonly string[]): readonly MemberId[] =>
  errors
    .filter((text) => /\balarm:\s*CORRUPT\b/.test(text))
    .map((text) => BigInt(/\bmemberID:\s*(\d{1,20})/.exec(text)?.[1] ?? 0));
