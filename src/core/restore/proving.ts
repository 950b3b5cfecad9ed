import type { Agent, AgentReport } from '../backup/agent.ts';
import { canLeapRevisions } from '../cluster/model/version.ts';
import { failInvalid, refused } from './failures.ts';
import type { RestoredCluster, RestoreWorld } from './model.ts';
import { act, blocked, fail, type RestoreVerdict, wait } from './step.ts';

/** Time limit of the backup check. The check itself is short; an image pull may take minutes. */
const provingSeconds = 900;
/** For this time the check is retried after an interruption or with an unreachable store. */
const retrySeconds = 300;

/** The phase `proving`: an agent checks the backup, and nothing else is touched. */
export function prove(world: RestoreWorld): RestoreVerdict {
  const { proof } = world;
  const obstacle = refused(world) ?? obstacleTo(world);
  if (obstacle !== undefined) return obstacle;
  if (proof === undefined) return startProof(world);
  if (proof.state.is === 'ended') return judgeReport(proof, proof.state.report, world);
  if (mayOverlap(world))
    return startSeeding('checking the backup while the volume of the seed member is provisioned', world);
  const isLate = world.now - proof.createdAt > provingSeconds * 1000;
  return isLate
    ? fail(`the check of the backup did not finish within ${provingSeconds} s`)
    : wait(`pod ${proof.name} checks the backup`);
}

function judgeReport(proof: Agent, report: AgentReport, world: RestoreWorld): RestoreVerdict {
  const { ok, message } = report;
  if (isInconclusive(report) && world.now - world.memory.since < retrySeconds * 1000)
    return act({ kind: 'discard-proof', proof }, `checking the backup again: ${message}`);
  if (!ok) return failInvalid(world, message);
  if (typeof world.cluster === 'string') return fail(world.cluster);
  return startSeeding('the backup exists', world);
}

/** True if the report is inconclusive: the agent was interrupted or could not reach the store. */
export const isInconclusive = ({ wasInterrupted, mayPass }: AgentReport): boolean =>
  wasInterrupted === true || mayPass === true;

/** The seed gets its name before it is created. */
export const startSeeding = (message: string, { spareName }: RestoreWorld): RestoreVerdict => ({
  is: 'enter',
  phase: 'seeding',
  message,
  seed: spareName,
});

/** Provisioning a volume takes longer than the check of the backup, so both run at once if possible. */
const mayOverlap = ({ cluster, isOnVolume }: RestoreWorld): boolean =>
  typeof cluster !== 'string' && isOnVolume !== true;

export const startProof = ({ obstacle }: RestoreWorld): RestoreVerdict =>
  obstacle === undefined ? act({ kind: 'prove' }, 'checking the backup') : blocked(obstacle);

/** Obstacles that are known before the backup is read. */
function obstacleTo(world: RestoreWorld): RestoreVerdict | undefined {
  const { cluster, isUndescribed = false } = world;
  if (typeof cluster !== 'string') return unsupportedBump(world, cluster);
  return isUndescribed ? undefined : blocked(cluster);
}

function unsupportedBump({ intent }: RestoreWorld, { version }: RestoredCluster): RestoreVerdict | undefined {
  if (intent.revisionBump === undefined || canLeapRevisions(version)) return undefined;
  return fail(
    `etcd ${version} does not support revisionBump: upgrade the cluster to 3.5.10 or newer, or remove revisionBump`,
  );
}
