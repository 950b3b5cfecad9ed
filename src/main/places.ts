import type { KubeClient } from '../kube/client.ts';
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
import { dialectsToServe, type Served } from './served.ts';
import type { Settings } from './settings.ts';

/** A part of the work with caches, queues and rights of its own: one namespace, or all of them at once. */
export interface Place {
  /** Without it, all namespaces. */
  readonly namespace: string | undefined;
  readonly dialects: readonly Served[];
  /** Resources of which a right is missing here; or the right, where the operator only tidies up. */
  readonly lacks: ReadonlySet<string>;
}

export interface Survey {
  readonly places: readonly Place[];
  /** The APIs that are served in any place. */
  readonly dialects: readonly Served[];
  /** Locks of which a right is missing in the operator's own namespace. */
  readonly lacks: ReadonlySet<string>;
  /** What is missing, and what that means. */
  readonly lines: readonly string[];
}

interface Asking {
  readonly client: Pick<KubeClient, 'review'>;
  readonly settings: Settings;
  readonly home: string;
  readonly isOutside: boolean;
}

/** Which APIs may be served in which namespaces, and what the operator may not do there. */
export async function survey(asking: Asking): Promise<Survey> {
  const { client, settings, home } = asking;
  const named = settings.namespaces !== undefined;
  const found = await Promise.all(namespacesOf(settings, home).map((namespace) => lookAt(namespace, asking)));
  const dialects = unionOf(found.flatMap((each) => each.dialects));
  const apis = dialects.map(({ dialect }) => dialect);
  const isApart = found.every(({ namespace }) => namespace !== undefined && namespace !== home);
  const atHome = await missingRights(client, rightsAtHome(apis, { isApart, hasStore: hasStore(settings) }), home);
  const lines = named
    ? [{ namespace: home, missing: atHome }, ...found].flatMap(({ missing, namespace }) =>
        tellMissing(missing, namespace),
      )
    : tellMissing([...atHome, ...found.flatMap(({ missing }) => missing)]);
  return { places: found, dialects, lacks: lacking(atHome), lines };
}

interface Found extends Place {
  readonly missing: readonly Right[];
}

async function lookAt(namespace: string | undefined, { client, settings, isOutside }: Asking): Promise<Found> {
  const dialects = await dialectsToServe(client, settings, namespace);
  const apis = dialects.map(({ dialect }) => dialect);
  const needed = rightsInPlace(apis, {
    isOutside,
    hadLocks: settings.namespaces !== undefined && namespace !== undefined,
  });
  const missing = await missingRights(client, needed, namespace);
  return { namespace, dialects, missing, lacks: lacking(missing) };
}

const lacking = (missing: readonly Right[]): ReadonlySet<string> =>
  new Set(missing.map((right) => (isForTidying(right) ? nameOfRight(right) : right.resource)));

export const hasStore = ({ store }: Pick<Settings, 'store'>): boolean =>
  store.secret !== undefined || store.serviceAccountName !== undefined;

const unionOf = (served: readonly Served[]): readonly Served[] => [
  ...new Map(served.map((each) => [each.name, each])).values(),
];
