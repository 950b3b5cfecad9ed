import { relabelling } from '../../core/desired/labels.ts';
import {
  makesMoreSnapshots,
  snapshotAnnotation,
  snapshotCountAfter,
  snapshotCountOf,
} from '../../core/desired/old-requests.ts';
import { type Body, changedAnnotation, restartsAnnotation } from '../../core/desired/pod.ts';
import { carrierNamed } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { compareVersions, parseVersion, type Version } from '../../core/model/version.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type Deed, leaderOf, podWith } from './deed.ts';
import { claimOfMember } from './member-claim.ts';
import { plainly } from './plain-words.ts';

type Change<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** The kubelet starts the container again with the other image; pod, address and data stay. */
export async function changeImage({ name, uid, from, to }: Change<'change-image'>, deed: Deed): Promise<void> {
  const { blueprint, writer, signal } = deed;
  await hasArrived(to, deed);
  const { naming } = blueprint;
  const count = snapshotCountAfter({ from, to, raftIndex: lengthOfLog(deed) });
  await noteVersion(name, { version: to, snapshotCount: count }, deed);
  const pod = podWith(uid, deed);
  const index = pod.spec?.containers?.findIndex((container) => container.name === 'etcd') ?? 0;
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: `/spec/containers/${index}/image`, value: blueprint.intent.imageOf(to) },
    { op: 'add', path: annotationPath(naming.versionAnnotation), value: to },
    { op: 'add', path: annotationPath(changedAnnotation(naming)), value: deed.tools.now().toISOString() },
    { op: 'add', path: annotationPath(restartsAnnotation(naming)), value: restartsOf(pod) },
    ...(count === undefined ? [] : [{ op: 'add', path: annotationPath(snapshotAnnotation(naming)), value: count }]),
  ];
  await writer.patch(pods, pod.metadata, { type: 'json', body, signal });
}

const restartsOf = ({ status }: Stored<Pod>): string =>
  String(status?.containerStatuses?.find((container) => container.name === 'etcd')?.restartCount ?? 0);

const annotationPath = (name: string): string =>
  `/metadata/annotations/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function lengthOfLog({ observed: { world } }: Deed): bigint {
  const members = world.membership.seen ? world.membership.value.members : [];
  return members.find(({ leads }) => leads)?.raftIndex ?? 0n;
}

/**
 * Before the first member leaves a minor, the cluster as a whole must have arrived at it, which etcd finds out some seconds
 * after the last member has. It says so by allowing to go back from there; before 3.5 it cannot be asked.
 */
async function hasArrived(to: string, deed: Deed): Promise<void> {
  const after = parseVersion(to);
  const before = lowestVersion(deed);
  if (before === undefined || after === undefined || after.minor <= before.minor || before.minor < 5) return;
  const target = `${before.major}.${before.minor - 1}.0`;
  await leaderOf(deed)
    .downgrade('validate', target, deed)
    .catch((thrown: unknown) => {
      const failure = Failure.from(thrown);
      const { kind } = failure;
      if (kind === 'forbidden' || kind === 'bug') throw thrown; // nobody gets around this by waiting
      throw new Failure(
        'conflict',
        `the cluster has not arrived at etcd ${before.major}.${before.minor} yet: ${plainly(failure).why}`,
      );
    });
}

/** The oldest that members run who answer; nobody does where there is no majority. */
function lowestVersion({ observed: { world } }: Deed): Version | undefined {
  const members = world.membership.seen ? world.membership.value.members : [];
  const running = members.flatMap(({ version }) => parseVersion(version ?? '') ?? []);
  return running.toSorted(compareVersions)[0];
}

interface Start {
  readonly version: string;
  readonly snapshotCount: string | undefined;
}

/** Beside the data stands which version may have written it, and how. It is said before that version starts. */
export async function noteVersion(name: CarrierName, { version, snapshotCount }: Start, deed: Deed): Promise<void> {
  const { naming } = deed.blueprint;
  const count = snapshotCount === undefined ? {} : { [snapshotAnnotation(naming)]: snapshotCount };
  await noteOnClaim(name, { [naming.versionAnnotation]: version, ...count }, deed);
}

/** How often a body that is made now makes snapshots: as its disk says, or as the others do. */
export function snapshotCountFor({ name, version: to }: Pick<Body, 'name' | 'version'>, deed: Deed): string {
  const { observed, blueprint } = deed;
  if (!makesMoreSnapshots(to)) return '';
  const { carriers } = observed.world;
  const annotation = snapshotAnnotation(blueprint.naming);
  const from = carrierNamed(observed.world, name)?.version || to;
  const claim = claimOfMember(name, deed);
  const others = carriers.map(({ uid }) => observed.podWith(uid)?.metadata.annotations?.[annotation]);
  const said = [claim?.metadata.annotations?.[annotation], ...others];
  return snapshotCountOf({ from, to, raftIndex: lengthOfLog(deed) }, said);
}

/** Where there is a claim, and it does not say so already. */
export async function noteOnClaim(
  name: CarrierName,
  notes: Readonly<Record<string, string>>,
  deed: Deed,
): Promise<void> {
  const { writer, signal } = deed;
  const claim = claimOfMember(name, deed);
  const said = claim?.metadata.annotations ?? {};
  if (claim === undefined || Object.entries(notes).every(([note, text]) => (said[note] ?? '') === text)) return;
  const body = { metadata: { uid: claim.metadata.uid, annotations: notes } };
  await writer.patch(persistentVolumeClaims, claim.metadata, { type: 'merge', body, signal });
}

export async function relabelCarrier({ uid }: Change<'relabel-carrier'>, deed: Deed): Promise<void> {
  const { blueprint, writer, signal } = deed;
  const pod = podWith(uid, deed);
  const metadata = relabelling(pod.metadata, blueprint.template, blueprint.naming);
  const body = { metadata: { uid, ...metadata } };
  await unless('not-found', writer.patch(pods, pod.metadata, { type: 'merge', body, signal }), undefined);
}
