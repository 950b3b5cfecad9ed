import type { ClusterWorld } from '../../core/cluster/model/cluster.ts';
import type { Verdict } from '../../core/cluster/plan/step.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import { storageOf } from '../../core/manifests/pvc.ts';
import type { Reason } from '../../core/reasons.ts';
import { warningAbout } from '../../core/versions/route.ts';
import { nanosOf } from '../../std/quantity.ts';
import type { EventContent } from './dialect.ts';
import { unknownFields } from './unknown-fields.ts';

/** Events of both APIs that the original operators do not have. */

export const memberAdopted = (name: string): EventContent => ({
  type: 'Normal',
  reason: 'TakingOver',
  message: `Adopted member ${name} from another operator`,
});

const warningReasons: ReadonlySet<Reason> = new Set([
  'MemberStuck',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'InvalidSecret',
  'VolumeStuck',
]);

export const eventsOfWait = (verdict: Verdict): readonly EventContent[] =>
  verdict.is === 'wait' && (verdict.needsUserAction === true || warningReasons.has(verdict.reason))
    ? [{ type: 'Warning', reason: verdict.reason, message: verdict.message }]
    : [];

/** Warnings about foreign objects with a name that a member could have. Members get other names instead. */
export const warningsOfForeignObjects = ({
  foreignVolumes = [],
  foreignPeers = [],
}: ForeignObjects): readonly EventContent[] => [
  ...foreignVolumes.map((name) => nameTaken(`PersistentVolumeClaim ${name}`)),
  ...foreignPeers.map((name) => nameTaken(`EtcdPeer ${name}`)),
];

type ForeignObjects = Pick<ClusterWorld, 'foreignVolumes' | 'foreignPeers'>;

const nameTaken = (what: string): EventContent => ({
  type: 'Warning',
  reason: 'NameTaken',
  message:
    `${what} does not belong to this cluster but has a member name: the operator leaves it alone and skips that name; ` +
    'delete the object if it is not needed',
});

/** The only valid value of the scope annotation: the scope of operators with --cluster-wide. */
export const clusterWideScope = 'clusterwide';

/** Warns about a scope annotation with an unknown value: no operator serves such a cluster. */
export function warningsOfScope(annotations: Annotations = {}, key = ''): readonly EventContent[] {
  const scope = annotations[key];
  if (scope === undefined || scope === clusterWideScope) return [];
  const message =
    `the annotation ${key} is ${JSON.stringify(scope)}, so no operator serves this cluster: ` +
    `remove the annotation, or set it to ${clusterWideScope} for an operator with --cluster-wide`;
  return [{ type: 'Warning', reason: 'UnknownScope', message }];
}

type Annotations = Readonly<Record<string, string>>;

/** Field names of an API, for messages. */
interface Fields {
  readonly size: string;
  readonly pod: string;
  readonly volume: string;
}

export function warningsAbout({ intent, template }: Blueprint, fields: Fields): readonly EventContent[] {
  const { size, version } = intent;
  return [
    ...warning('EvenSize', size % 2 === 0 ? evenSize(size, fields.size) : undefined),
    ...warning('KnownFault', warningAbout(version)),
    ...warning('QuotaTooLarge', quotaTooLarge(template, fields.volume)),
    ...warning('UnknownField', withoutEffect(unknownFields(template, fields))),
  ];
}

const warning = (reason: Reason, message: string | undefined): readonly EventContent[] =>
  message === undefined ? [] : [{ type: 'Warning', reason, message }];

/** The fields in one message: an Event for each of them could be thousands. */
const [mostPaths, longestPath] = [5, 253];

function withoutEffect(paths: readonly string[]): string | undefined {
  if (paths.length === 0) return undefined;
  const shown = paths.slice(0, mostPaths).map((path) => path.slice(0, longestPath));
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : '';
  return `${shown.join(', ')}${more}: no such field in Kubernetes, so it has no effect: correct its spelling or leave it out`;
}

const evenSize = (size: number, field: string): string =>
  `${field} is ${size}: a cluster of ${size} survives no more failures than one of ${size - 1}; use an odd number`;

/** With a quota above the volume size, etcd fills the volume and crashes before the quota rejects writes. */
function quotaTooLarge(template: Blueprint['template'], volume: string): string | undefined {
  const quota = template.env.find(({ name }) => name === 'ETCD_QUOTA_BACKEND_BYTES')?.['value'];
  const storage = storageOf(template);
  if (typeof quota !== 'string' || !/^\d+$/.test(quota) || storage === undefined) return undefined;
  return nanosOf(quota) < nanosOf(storage)
    ? undefined
    : `spec.quotaBackendBytes is ${quota}, but the volume of ${volume} is only ${storage}: make the volume larger than the quota plus the WAL`;
}
