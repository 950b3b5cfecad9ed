import { compareVersions, minorOf, parseVersion } from '../../core/model/version.ts';
import type { ClusterStatus } from '../../core/status/cluster-status.ts';
import { saidOfProblems, saidOfUnobserved } from '../conditions.ts';
import type { Findings } from '../dialect.ts';
import { keptVolumesIn } from '../kept-volumes.ts';
import { stateOf, unasked, unheard } from '../member-status.ts';
import { type Condition, type EtcdClusterStatus, foundClusterStatus } from './status.ts';

type Said = Omit<Condition, 'lastTransitionTime'>;

/** What was found: the original's fields as it meant them, and conditions. */
export function writeStatus({ status, blueprint, generation, now }: Findings, previous: unknown): EtcdClusterStatus {
  const before = foundClusterStatus.parse(previous ?? {});
  const { naming, intent } = blueprint;
  const said = status.conditions.map((condition): Said => ({ ...condition, ...generationOf(generation) }));
  return present({
    ...membersOf(status, before),
    ...versionsOf(status, before),
    serviceName: naming.clientService,
    clusterId: status.memory.clusterId,
    bootstrap: bootstrapOf(status),
    paused: status.paused || undefined,
    heldBy: intent.heldBy,
    keptVolumes: keptVolumesIn(status),
    selector: Object.entries(naming.clusterLabels)
      .map((pair) => pair.join('='))
      .join(','),
    conditions: merged(said, before.conditions ?? [], now),
    observedGeneration: generation,
  });
}

const generationOf = (generation: number | undefined): Pick<Condition, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation };

/** While no member answers, the list that was last known is kept, as in the original: the next pass has nothing else to go by. */
function membersOf({ size, ready, members }: ClusterStatus, before: EtcdClusterStatus): EtcdClusterStatus {
  const known = before.members ?? [];
  const seen = members.map((member) => stateOf(member, known));
  return { replicas: size, readyReplicas: ready.length, members: seen.length > 0 ? seen : unheard(known) };
}

/** Unlike the list, the cluster's version is empty while nobody answers: that, too, is as in the original. */
function versionsOf({ members, path }: ClusterStatus, before: EtcdClusterStatus): EtcdClusterStatus {
  const running = members.flatMap(({ version }) => version ?? []);
  const serverVersion = running.length === members.length && new Set(running).size === 1 ? running[0] : undefined;
  return {
    clusterVersion: clusterVersionOf(running),
    serverVersion: serverVersion ?? before.serverVersion ?? '',
    ...(path.length === 0 ? {} : { upgradePath: [...path] }),
  };
}

/** Members agree on the minor of the oldest among them. */
function clusterVersionOf(running: readonly string[]): string {
  const known = running.flatMap((text) => {
    const parsed = parseVersion(text);
    return parsed === undefined ? [] : [{ text, parsed }];
  });
  const oldest = known.toSorted((a, b) => compareVersions(a.parsed, b.parsed))[0];
  return oldest === undefined ? '' : minorOf(oldest.text);
}

function bootstrapOf({ memory: { bootstrap } }: ClusterStatus): EtcdClusterStatus['bootstrap'] {
  if (bootstrap === undefined) return undefined;
  const { members, token, onLeftDisks } = bootstrap;
  return { members: [...members], token, ...(onLeftDisks === true ? { onLeftDisks } : {}) };
}

/** Of an object that cannot be read we only say what is wrong with it; what was known of its members stays. */
export function writeProblems(problems: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = foundClusterStatus.parse(previous ?? {});
  return withSaid(saidOfProblems(problems, before.conditions ?? []), before, now);
}

/** Of a cluster that could not be looked at we only say why; what was known of its members stays. */
export function writeUnobserved(why: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = foundClusterStatus.parse(previous ?? {});
  return withSaid(saidOfUnobserved(why, before.conditions ?? []), before, now);
}

function withSaid(said: readonly Said[], before: EtcdClusterStatus, now: Date): EtcdClusterStatus {
  const others = (before.conditions ?? []).filter(({ type }) => said.every((each) => each.type !== type));
  const conditions = [...others, ...merged(said, before.conditions ?? [], now)];
  return { ...before, ...(before.members === undefined ? {} : { members: unasked(before.members) }), conditions };
}

/** The time changes only with the status that it is the time of. */
const merged = (said: readonly Said[], before: readonly Condition[], now: Date): Condition[] =>
  said.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
    return { ...condition, lastTransitionTime };
  });

const present = (status: { [K in keyof EtcdClusterStatus]: EtcdClusterStatus[K] | undefined }): EtcdClusterStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
