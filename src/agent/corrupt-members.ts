import type { EtcdConnection } from '../etcd/client.ts';
import { hexOf, type MemberId, type MemberStatus } from '../etcd/types.ts';
import { Failure } from '../std/failure.ts';
import { AgentFailure } from './result.ts';
import { minorNumberOf } from './versions.ts';

/** A member that answered. */
export interface Answer {
  readonly url: string;
  readonly etcd: EtcdConnection;
  readonly status: MemberStatus;
}

interface CorruptAlarms {
  /** Ids of members with a CORRUPT alarm; zero if etcd does not name the member. */
  readonly corrupt: ReadonlySet<MemberId>;
  readonly warnings: readonly string[];
}

/** Leaves out members with a CORRUPT alarm. Fails if no other member answered, or if etcd does not name the member. */
export async function withoutCorrupt(
  answers: readonly Answer[],
  signal: AbortSignal,
): Promise<{ readonly sound: readonly Answer[]; readonly warnings: readonly string[] }> {
  const { corrupt, warnings } = await corruptAlarms(answers, signal);
  if (corrupt.size === 0) return { sound: answers, warnings };
  const sound = answers.filter(({ status }) => !corrupt.has(status.memberId));
  if (corrupt.has(0n)) throw refusal('the whole cluster: etcd does not name the damaged member');
  const names = [...corrupt].map(hexOf).join(', ');
  if (sound.length === 0) throw refusal(`member ${names}, and no other member answered`);
  const warning = `etcd has raised the alarm CORRUPT for member ${names}: the snapshot is taken from another member; replace the damaged member`;
  return { sound, warnings: [...warnings, warning] };
}

const refusal = (forWhat: string): AgentFailure =>
  new AgentFailure(
    'corrupt',
    `no backup is made of damaged data: etcd has raised the alarm CORRUPT for ${forWhat}; compare the members (etcdctl endpoint hashkv --cluster), replace the damaged member or restore an older backup, and then disarm the alarm (etcdctl alarm disarm)`,
  );

/** From this version on, the status of a member contains its alarms. */
const statusHasAlarmsSince = 304;
const alarmMillis = 5_000;

async function corruptAlarms(answers: readonly Answer[], signal: AbortSignal): Promise<CorruptAlarms> {
  const corrupt = new Set(answers.flatMap(({ status }) => corruptIn(status.errors)));
  const isInStatus = answers.some(({ status }) => minorNumberOf(status.version) >= statusHasAlarmsSince);
  const asked = answers.find(({ status }) => status.leader !== 0n && !status.isLearner);
  if (isInStatus || asked === undefined) return { corrupt, warnings: [] };
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

/** The member id is missing if etcd cannot name the member; it counts as zero then. */
const corruptIn = (errors: readonly string[]): readonly MemberId[] =>
  errors
    .filter((text) => /\balarm:\s*CORRUPT\b/.test(text))
    .map((text) => BigInt(/\bmemberID:\s*(\d{1,20})/.exec(text)?.[1] ?? 0));
