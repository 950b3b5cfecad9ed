import type { KubeClient } from '../kube/client.ts';
import { type Clock, pause } from '../runtime/clock.ts';
import { namespacesOf } from './reach.ts';
import {
  isForTidying,
  missingRights,
  nameOfRight,
  type Right,
  rightsAtHome,
  rightsInPlace,
  tellMissing,
} from './rights.ts';
import { dialectsToServe, type Served, visibleIn } from './served.ts';
import type { Settings } from './settings.ts';

/** A part of the work with caches, queues and rights of its own: one namespace, or all of them at once. */
export interface Place {
  /** Without it, all namespaces. */
  readonly namespace: string | undefined;
  readonly dialects: readonly Served[];
  /** Resources of which a right is missing here; or the right, where the operator only tidies up. */
  readonly lacks: ReadonlySet<string>;
  /** Where no clusters may be listed yet: waits for that, for as long as `signal` lets it. */
  readonly whenGranted?: (signal: AbortSignal) => Promise<Place | undefined>;
}

export interface Survey {
  readonly places: readonly Place[];
  /** The APIs that are served in any place. */
  readonly dialects: readonly Served[];
  /** Locks of which a right is missing in the operator's own namespace. */
  readonly lacks: ReadonlySet<string>;
}

export interface Asking {
  readonly client: Pick<KubeClient, 'review'>;
  readonly settings: Settings;
  readonly home: string;
  readonly isOutside: boolean;
  readonly clock: Clock;
  /** Called with what is missing somewhere, and what that means; again when that has changed there. */
  readonly onMissing: (where: string, lines: readonly string[]) => void;
}

/** Which APIs may be served in which namespaces, and what the operator may not do there. */
export async function survey(asking: Asking): Promise<Survey> {
  const { client, settings, home, onMissing } = asking;
  const namespaces = namespacesOf(settings, home);
  const served = await dialectsToServe(client, settings, namespaces);
  const found = await Promise.all(namespaces.map((namespace, i) => lookAt(namespace, served[i] ?? [], asking)));
  const dialects = unionOf(served.flat());
  const apis = dialects.map(({ dialect }) => dialect);
  const isApart = found.every(({ namespace }) => namespace !== undefined && namespace !== home);
  const atHome = await missingRights(client, rightsAtHome(apis, { isApart, hasStore: hasStore(settings) }), home);
  if (settings.namespaces === undefined || namespaces.includes(undefined)) {
    onMissing(home, tellMissing([...atHome, ...found.flatMap(({ missing }) => missing)]));
  } else {
    onMissing('of its own', tellMissing(atHome, home));
    for (const { namespace = home, missing } of found) onMissing(namespace, tellMissing(missing, namespace));
  }
  return { places: found, dialects, lacks: lacking(atHome) };
}

interface Found extends Place {
  readonly missing: readonly Right[];
}

async function lookAt(namespace: string | undefined, dialects: readonly Served[], asking: Asking): Promise<Found> {
  const { client, settings, isOutside } = asking;
  const apis = dialects.map(({ dialect }) => dialect);
  const isNamed = settings.namespaces !== undefined && namespace !== undefined;
  const missing = await missingRights(client, rightsInPlace(apis, { isOutside, hadLocks: isNamed }), namespace);
  const lacks = lacking(missing);
  const isSeen = !isNamed || dialects.some(({ dialect }) => !isMissing(missing, dialect));
  const found = { namespace, dialects, missing, lacks };
  return isSeen ? found : { ...found, whenGranted: (signal) => granted(namespace, { dialects, asking }, signal) };
}

/** An API whose clusters may not be listed. */
const isMissing = (missing: readonly Right[], { group, plural }: Served['dialect']): boolean =>
  missing.some((right) => right.group === group && right.resource === plural && right.verb === 'list');

/** A place as it is when it can be served: at once, or when its rights are granted. */
export const whenServed = async (place: Place, signal: AbortSignal): Promise<Place | undefined> =>
  place.whenGranted === undefined ? place : await place.whenGranted(signal);

const everyMillis = 15_000;

/** A namespace whose RoleBinding comes later is served from then on, with the rights that it has then. */
async function granted(
  namespace: string,
  { dialects, asking }: { readonly dialects: readonly Served[]; readonly asking: Asking },
  signal: AbortSignal,
): Promise<Place | undefined> {
  while (!signal.aborted) {
    const visible = await visibleIn(asking.client, dialects, namespace);
    const found = visible.length === 0 ? undefined : await lookAt(namespace, visible, asking);
    // An API server that does not answer counts as a yes. The second round of questions must say the same.
    if (found !== undefined && found.whenGranted === undefined) {
      const { missing, ...place } = found;
      asking.onMissing(namespace, tellMissing(missing, namespace));
      return place;
    }
    await pause(asking.clock, everyMillis, signal);
  }
  return undefined;
}

const lacking = (missing: readonly Right[]): ReadonlySet<string> =>
  new Set(missing.map((right) => (isForTidying(right) ? nameOfRight(right) : right.resource)));

export const hasStore = ({ store }: Pick<Settings, 'store'>): boolean =>
  store.secret !== undefined || store.serviceAccountName !== undefined;

const unionOf = (served: readonly Served[]): readonly Served[] => [
  ...new Map(served.map((each) => [each.name, each])).values(),
];
