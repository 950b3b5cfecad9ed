import type { KubeClient } from '../kube/client.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import {
  describeMissing,
  isForCleanup,
  missingRights,
  nameOfRight,
  type Right,
  rightsAtHome,
  rightsInPlace,
} from './rbac.ts';
import { namespacesOf } from './reach.ts';
import type { Settings } from './settings.ts';
import { dialectsToServe, type Served, visibleIn } from './wiring/served.ts';

/** A set of namespaces with its own caches, queues and rights: one namespace, or all. */
export interface Place {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly dialects: readonly Served[];
  /** Resources with a missing right here. For cleanup rights, the right itself. */
  readonly lacks: ReadonlySet<string>;
  /** Set if clusters cannot be listed yet: waits until the right is granted. */
  readonly whenGranted?: (signal: AbortSignal) => Promise<Place | undefined>;
}

export interface Survey {
  readonly places: readonly Place[];
  /** The APIs that are served in at least one place. */
  readonly dialects: readonly Served[];
  /** Lock resources with a missing right in the operator's own namespace. */
  readonly lacks: ReadonlySet<string>;
}

export interface SurveyContext {
  readonly client: Pick<KubeClient, 'review'>;
  readonly settings: Settings;
  readonly home: string;
  readonly isOutside: boolean;
  readonly clock: Clock;
  /** Called with the missing rights of a place and their consequences, and again when they change. */
  readonly onMissing: (where: string, lines: readonly string[]) => void;
}

/** Finds the APIs to serve in each namespace, and the missing rights. */
export async function survey(context: SurveyContext): Promise<Survey> {
  const { client, settings, home, onMissing } = context;
  const namespaces = namespacesOf(settings, home);
  const served = await dialectsToServe(client, settings, namespaces);
  const found = await Promise.all(namespaces.map((namespace, i) => checkPlace(namespace, served[i] ?? [], context)));
  const dialects = unionOf(served.flat());
  const apis = dialects.map(({ dialect }) => dialect);
  const isApart = found.every(({ namespace }) => namespace !== undefined && namespace !== home);
  const atHome = await missingRights(client, rightsAtHome(apis, { isApart, hasStore: hasStore(settings) }), home);
  if (settings.namespaces === undefined || namespaces.includes(undefined)) {
    onMissing(home, describeMissing([...atHome, ...found.flatMap(({ missing }) => missing)]));
  } else {
    onMissing('home', describeMissing(atHome, home));
    for (const { namespace = home, missing } of found) onMissing(namespace, describeMissing(missing, namespace));
  }
  return { places: found, dialects, lacks: lacking(atHome) };
}

interface Found extends Place {
  readonly missing: readonly Right[];
}

async function checkPlace(
  namespace: string | undefined,
  dialects: readonly Served[],
  context: SurveyContext,
): Promise<Found> {
  const { client, settings, isOutside } = context;
  const apis = dialects.map(({ dialect }) => dialect);
  const isNamed = settings.namespaces !== undefined && namespace !== undefined;
  const missing = await missingRights(client, rightsInPlace(apis, { isOutside, hadLocks: isNamed }), namespace);
  const lacks = lacking(missing);
  const isVisible = !isNamed || dialects.some(({ dialect }) => !isMissing(missing, dialect));
  const found = { namespace, dialects, missing, lacks };
  return isVisible ? found : { ...found, whenGranted: (signal) => granted(namespace, { dialects, context }, signal) };
}

/** True if clusters of the API cannot be listed. */
const isMissing = (missing: readonly Right[], { group, plural }: Served['dialect']): boolean =>
  missing.some((right) => right.group === group && right.resource === plural && right.verb === 'list');

/** Waits until the place can be served: at once, or when its rights are granted. */
export const waitUntilServed = async (place: Place, signal: AbortSignal): Promise<Place | undefined> =>
  place.whenGranted === undefined ? place : await place.whenGranted(signal);

const everyMillis = 15_000;

/** Waits for the RoleBinding of a namespace, and returns the place with its rights. */
async function granted(
  namespace: string,
  { dialects, context }: { readonly dialects: readonly Served[]; readonly context: SurveyContext },
  signal: AbortSignal,
): Promise<Place | undefined> {
  while (!signal.aborted) {
    const visible = await visibleIn(context.client, dialects, namespace);
    const found = visible.length === 0 ? undefined : await checkPlace(namespace, visible, context);
    // A failed review counts as granted, so a second review must confirm it.
    if (found !== undefined && found.whenGranted === undefined) {
      const { missing, ...place } = found;
      context.onMissing(namespace, describeMissing(missing, namespace));
      return place;
    }
    await pause(context.clock, everyMillis, signal);
  }
  return undefined;
}

const lacking = (missing: readonly Right[]): ReadonlySet<string> =>
  new Set(missing.map((right) => (isForCleanup(right) ? nameOfRight(right) : right.resource)));

export const hasStore = ({ store }: Pick<Settings, 'store'>): boolean =>
  store.secret !== undefined || store.serviceAccountName !== undefined;

const unionOf = (served: readonly Served[]): readonly Served[] => [
  ...new Map(served.map((each) => [each.name, each])).values(),
];
