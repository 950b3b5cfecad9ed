import type { ClusterDialect } from '../../apis/common/dialect.ts';
import { withRepository } from '../../apis/common/image.ts';
import { type Restrictions, withoutPlaintextWarning, withRestrictions } from '../../apis/common/restrictions.ts';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import { namespaced, type Resource } from '../../kube/resource.ts';
import { type Backoff, backoffSeconds, type Clock, pause } from '../../runtime/clock.ts';
import { Failure } from '../../std/failure.ts';
import { mayList } from '../rbac.ts';
import type { Log } from '../telemetry/log.ts';

/** The APIs that the operator can serve, by their names in `--dialects`. */
export const allDialects = { coreos, improbable } as const;

export type DialectName = keyof typeof allDialects;

export interface Served {
  readonly name: DialectName;
  readonly dialect: ClusterDialect;
}

const served = (names: readonly DialectName[], asked: ServedSettings): readonly Served[] =>
  names.map((name) => ({ name, dialect: adapted(allDialects[name], asked) }));

/** Applies the operator's flags to an API. */
function adapted(
  dialect: ClusterDialect,
  { etcdRepository, restrictions, warnPlaintext = true }: ServedSettings,
): ClusterDialect {
  const restricted = withRestrictions(restrictions, withRepository(dialect, etcdRepository));
  return warnPlaintext ? restricted : withoutPlaintextWarning(restricted);
}

export interface ServedSettings {
  readonly dialects: readonly DialectName[] | undefined;
  readonly etcdRepository: string | undefined;
  readonly restrictions?: Restrictions;
  /** True, the default, to warn about clusters without TLS. */
  readonly warnPlaintext?: boolean;
}

/**
 * The APIs to serve in each namespace: those in `--dialects`, or those with clusters that can be listed there. If there
 * are none, the APIs of the other namespaces; if there are none either, all, so that the missing rights are reported.
 */
export async function dialectsToServe(
  client: Pick<KubeClient, 'review'>,
  asked: ServedSettings,
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

/** The APIs with clusters that can be listed in a namespace. */
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

const lookupBackoff: Backoff = { firstSeconds: 0.2, mostSeconds: 5 };

export interface ApiLookup {
  readonly client: Pick<KubeClient, 'list'>;
  readonly scope: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly onFailure: (failure: Failure) => void;
}

/**
 * True if the kinds of an API exist and can be listed. Failures other than a missing kind or a missing right are no
 * answer: the lists are repeated until `signal` aborts.
 */
export async function isDefined(dialect: ClusterDialect, lookup: ApiLookup, signal: AbortSignal): Promise<boolean> {
  const { clock, onFailure } = lookup;
  for (let tries = 1; !signal.aborted; tries++) {
    const obstacle = await obstacleTo(dialect, lookup, signal);
    if (obstacle === undefined) return true;
    if (isAbsentOrUndefined(obstacle) || obstacle.kind === 'forbidden') return false;
    if (!signal.aborted) onFailure(obstacle);
    await pause(clock, backoffSeconds(clock, lookupBackoff, tries) * 1000, signal);
  }
  return false;
}

/** Waits until the kinds of an API exist; false if `signal` aborts first. */
export async function waitUntilDefined(
  dialect: ClusterDialect,
  lookup: ApiLookup,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log, onFailure } = lookup;
  for (let tries = 1; !signal.aborted; tries++) {
    const obstacle = await obstacleTo(dialect, lookup, signal);
    if (obstacle === undefined) return true;
    if (!isAbsentOrUndefined(obstacle)) onFailure(obstacle);
    else if (tries === triesUntilLogged) log.info({ group: dialect.group }, 'waiting for CustomResourceDefinitions');
    await pause(clock, backoffSeconds(clock, lookupBackoff, tries) * 1000, signal);
  }
  return false;
}

/** A new CustomResourceDefinition is served after a short delay. */
const triesUntilLogged = 3;

async function obstacleTo(
  dialect: ClusterDialect,
  { client, scope: namespace }: ApiLookup,
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
