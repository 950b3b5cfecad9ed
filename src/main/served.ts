import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from '../dialects/dialect.ts';
import { withRepository } from '../dialects/image.ts';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import { type Restrictions, restrictedTo, silentAboutPlaintext } from '../dialects/restrictions.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAbsentOrUndefined } from '../kube/errors.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import { type Backoff, backoffSeconds, type Clock, pause } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';
import { mayList } from './rights.ts';

/** The APIs that the operator can serve, by the names that `--dialects` knows them by. */
export const allDialects = { coreos, improbable } as const;

export type DialectName = keyof typeof allDialects;

export interface Served {
  readonly name: DialectName;
  readonly dialect: ClusterDialect;
}

const served = (names: readonly DialectName[], asked: Asked): readonly Served[] =>
  names.map((name) => ({ name, dialect: adapted(allDialects[name], asked) }));

/** An API as the operator's flags have it. */
function adapted(
  dialect: ClusterDialect,
  { etcdRepository, restrictions, warnPlaintext = true }: Asked,
): ClusterDialect {
  const restricted = restrictedTo(restrictions, withRepository(dialect, etcdRepository));
  return warnPlaintext ? restricted : silentAboutPlaintext(restricted);
}

export interface Asked {
  readonly dialects: readonly DialectName[] | undefined;
  readonly etcdRepository: string | undefined;
  readonly restrictions?: Restrictions;
  /** Whether to say of clusters that they have no TLS; by default it is said. */
  readonly warnPlaintext?: boolean;
}

/**
 * Which APIs to serve in each namespace: those that were named; else those whose clusters we may see there. Where that is none,
 * those of the other namespaces; if there are none either, all of them, so that it is told which rights are missing.
 */
export async function dialectsToServe(
  client: Pick<KubeClient, 'review'>,
  asked: Asked,
  scopes: readonly (string | undefined)[],
): Promise<readonly (readonly Served[])[]> {
  const { dialects: named } = asked;
  const all = served(named ?? (Object.keys(allDialects) as DialectName[]), asked);
  if (named !== undefined) return scopes.map(() => all);
  const seen = await Promise.all(scopes.map((scope) => visibleIn(client, all, scope)));
  const anywhere = all.filter((each) => seen.some((visible) => visible.includes(each)));
  const instead = anywhere.length === 0 ? all : anywhere;
  return seen.map((visible) => (visible.length === 0 ? instead : visible));
}

/** The APIs whose clusters we may see in a namespace. */
export async function visibleIn(
  client: Pick<KubeClient, 'review'>,
  dialects: readonly Served[],
  scope: string | undefined,
): Promise<readonly Served[]> {
  const asked = dialects.map(async (each) => ((await mayList(client, clustersOf(each.dialect), scope)) ? [each] : []));
  return (await Promise.all(asked)).flat();
}

export const clustersOf = ({ group, version, plural, kind }: ClusterDialect): Resource<ClusterObject> =>
  namespaced({ group, version, plural, kind });

export const peersOf = ({ group, version, peers }: ClusterDialect): Resource<ClusterObject> | undefined =>
  peers === undefined ? undefined : namespaced({ group, version, plural: peers.plural, kind: peers.kind });

const lookAgain: Backoff = { firstSeconds: 0.2, mostSeconds: 5 };

export interface Looking {
  readonly client: Pick<KubeClient, 'list'>;
  readonly scope: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly onTrouble: (failure: Failure) => void;
}

/**
 * Whether the API server knows the kinds of an API, and shows them to us. Any other failure says nothing of that: then it is
 * asked again, until `signal` aborts.
 */
export async function isDefined(dialect: ClusterDialect, looking: Looking, signal: AbortSignal): Promise<boolean> {
  const { clock, onTrouble } = looking;
  for (let tries = 1; !signal.aborted; tries++) {
    const obstacle = await obstacleTo(dialect, looking, signal);
    if (obstacle === undefined) return true;
    if (isAbsentOrUndefined(obstacle) || obstacle.kind === 'forbidden') return false;
    if (!signal.aborted) onTrouble(obstacle);
    await pause(clock, backoffSeconds(clock, lookAgain, tries) * 1000, signal);
  }
  return false;
}

/** Waits until the API server knows the kinds of an API; false if `signal` aborted before that. */
export async function whenDefined(dialect: ClusterDialect, looking: Looking, signal: AbortSignal): Promise<boolean> {
  const { clock, log, onTrouble } = looking;
  for (let tries = 1; !signal.aborted; tries++) {
    const obstacle = await obstacleTo(dialect, looking, signal);
    if (obstacle === undefined) return true;
    if (!isAbsentOrUndefined(obstacle)) onTrouble(obstacle);
    else if (tries === triesUntilTold)
      log.info({ group: dialect.group }, 'its CustomResourceDefinitions are not there: its clusters wait for them');
    await pause(clock, backoffSeconds(clock, lookAgain, tries) * 1000, signal);
  }
  return false;
}

/** One that has just been created takes a moment. */
const triesUntilTold = 3;

async function obstacleTo(
  dialect: ClusterDialect,
  { client, scope: namespace }: Looking,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  try {
    await client.list(clustersOf(dialect), { namespace, limit: 1, enough: 1, signal });
    const peers = peersOf(dialect);
    if (peers !== undefined) await client.list(peers, { namespace, limit: 1, enough: 1, signal });
    return undefined;
  } catch (thrown) {
    return Failure.from(thrown);
  }
}
