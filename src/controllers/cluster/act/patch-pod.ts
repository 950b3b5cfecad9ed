import { memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { compareVersions, minorOf, parseVersion, type Version } from '../../../core/cluster/model/version.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { metadataPatch } from '../../../core/manifests/labels.ts';
import {
  needsFrequentSnapshots,
  snapshotAnnotation,
  snapshotCountAfter,
  snapshotCountOf,
} from '../../../core/manifests/legacy-resources.ts';
import { changedAnnotation, type MemberPodInput, restartsAnnotation } from '../../../core/manifests/pod.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import { persistentVolumeClaims, pods } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { describeFailure } from '../failure-message.ts';
import { claimOfMember } from '../observe/member-pvc.ts';
import { hasRun } from '../observe/members.ts';
import { getLive, leaderOf, podWith, type StepContext } from './step-context.ts';

type Change<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Patches the image. The kubelet restarts the container; pod, address and data stay. */
export async function changeImage(step: Change<'change-image'>, context: StepContext): Promise<void> {
  const { name, uid, from, to } = step;
  const { blueprint, writer, signal } = context;
  await confirmClusterVersion(to, context);
  await confirmNeverRan(step, context);
  const { naming } = blueprint;
  const count = snapshotCountAfter({ from, to, raftIndex: leaderRaftIndex(context) });
  await annotateVersion(name, { version: to, snapshotCount: count }, context);
  const pod = podWith(uid, context);
  const index = pod.spec?.containers?.findIndex((container) => container.name === 'etcd') ?? 0;
  const body = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'replace', path: `/spec/containers/${index}/image`, value: blueprint.intent.imageOf(to) },
    { op: 'add', path: annotationPath(naming.versionAnnotation), value: to },
    { op: 'add', path: annotationPath(changedAnnotation(naming)), value: context.controller.now().toISOString() },
    { op: 'add', path: annotationPath(restartsAnnotation(naming)), value: restartsOf(pod) },
    ...(count === undefined ? [] : [{ op: 'add', path: annotationPath(snapshotAnnotation(naming)), value: count }]),
  ];
  await writer.patch(pods, pod.metadata, { type: 'json', body, signal });
}

/** Before the cluster has formed, another minor is only for a pod that has never run: its volume has no data. */
async function confirmNeverRan({ name, uid, from, to }: Change<'change-image'>, context: StepContext): Promise<void> {
  if (context.observed.world.memory.clusterId !== undefined || minorOf(from) === minorOf(to)) return;
  const pod = await getLive(pods, name, context);
  if (pod?.metadata.uid !== uid || hasRun(pod))
    throw new Failure('conflict', `pod ${name} has run etcd ${from} by now`);
}

const restartsOf = ({ status }: Stored<Pod>): string =>
  String(status?.containerStatuses?.find((container) => container.name === 'etcd')?.restartCount ?? 0);

const annotationPath = (name: string): string =>
  `/metadata/annotations/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function leaderRaftIndex({ observed: { world } }: StepContext): bigint {
  const members = world.membership.seen ? world.membership.value.members : [];
  return members.find(({ leads }) => leads)?.raftIndex ?? 0n;
}

/**
 * Checks the cluster version before the first member of a minor version is upgraded. etcd raises the cluster version
 * some seconds after the last member runs it. A downgrade validation shows the cluster version; before 3.5 there is no
 * such request.
 */
async function confirmClusterVersion(to: string, context: StepContext): Promise<void> {
  const after = parseVersion(to);
  const before = lowestVersion(context);
  if (before === undefined || after === undefined || after.minor <= before.minor || before.minor < 5) return;
  const target = `${before.major}.${before.minor - 1}.0`;
  await leaderOf(context)
    .downgrade('validate', target, context)
    .catch((thrown: unknown) => {
      const failure = Failure.from(thrown);
      const { kind } = failure;
      if (kind === 'forbidden' || kind === 'bug') throw thrown; // waiting does not help
      throw new Failure(
        'conflict',
        `the cluster version is not yet ${before.major}.${before.minor}: ${describeFailure(failure).why}`,
      );
    });
}

/** The oldest version of the members that answer; undefined without quorum. */
function lowestVersion({ observed: { world } }: StepContext): Version | undefined {
  const members = world.membership.seen ? world.membership.value.members : [];
  const running = members.flatMap(({ version }) => parseVersion(version ?? '') ?? []);
  return running.toSorted(compareVersions)[0];
}

interface Start {
  readonly version: string;
  readonly snapshotCount: string | undefined;
}

/** Annotates the PVC with the version that writes its data, before that version starts. */
export async function annotateVersion(
  name: MemberName,
  { version, snapshotCount }: Start,
  context: StepContext,
): Promise<void> {
  const { naming } = context.blueprint;
  const count = snapshotCount === undefined ? {} : { [snapshotAnnotation(naming)]: snapshotCount };
  await annotatePvc(name, { [naming.versionAnnotation]: version, ...count }, context);
}

/** The snapshot count of a new pod: that of its PVC annotation, or that of the other members. */
export function snapshotCountFor(
  { name, version: to }: Pick<MemberPodInput, 'name' | 'version'>,
  context: StepContext,
): string {
  const { observed, blueprint } = context;
  if (!needsFrequentSnapshots(to)) return '';
  const { memberPods } = observed.world;
  const annotation = snapshotAnnotation(blueprint.naming);
  const from = memberPodNamed(observed.world, name)?.version || to;
  const claim = claimOfMember(name, context);
  const others = memberPods.map(({ uid }) => observed.podWith(uid)?.metadata.annotations?.[annotation]);
  const counts = [claim?.metadata.annotations?.[annotation], ...others];
  return snapshotCountOf({ from, to, raftIndex: leaderRaftIndex(context) }, counts);
}

/** Annotates the PVC of a member, if it exists and lacks these annotations. */
export async function annotatePvc(
  name: MemberName,
  annotations: Readonly<Record<string, string>>,
  context: StepContext,
): Promise<void> {
  const { writer, signal } = context;
  const claim = claimOfMember(name, context);
  const existing = claim?.metadata.annotations ?? {};
  if (claim === undefined || Object.entries(annotations).every(([key, value]) => (existing[key] ?? '') === value))
    return;
  const body = { metadata: { uid: claim.metadata.uid, annotations } };
  await writer.patch(persistentVolumeClaims, claim.metadata, { type: 'merge', body, signal });
}

export async function relabelMemberPod({ uid }: Change<'relabel-member-pod'>, context: StepContext): Promise<void> {
  const { blueprint, writer, signal } = context;
  const pod = podWith(uid, context);
  const metadata = metadataPatch(pod.metadata, blueprint.template, blueprint.naming);
  const body = { metadata: { uid, ...metadata } };
  await unless('not-found', writer.patch(pods, pod.metadata, { type: 'merge', body, signal }), undefined);
}
