import { storageOf } from '../core/desired/claim.ts';
import type { Blueprint } from '../core/desired/manifest.ts';
import type { ClusterWorld } from '../core/model/cluster.ts';
import type { Verdict } from '../core/plan/cluster/step.ts';
import type { Reason } from '../core/reasons.ts';
import { warningAbout } from '../core/versions/route.ts';
import type { Told } from './dialect.ts';
import { partsOf } from './quantity.ts';

/** What both APIs tell in words of our own: the originals have none for trouble, nor for each other. */

export const takenOver = (name: string): Told => ({
  type: 'Normal',
  reason: 'TakingOver',
  message: `Member ${name}, which another operator has made, is looked after by this one from now on`,
});

const worthAWarning: ReadonlySet<Reason> = new Set([
  'MemberStuck',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'SecretUnfit',
  'VolumeStuck',
]);

export const tellWait = (verdict: Verdict): readonly Told[] =>
  verdict.is === 'wait' && (verdict.needsPerson === true || worthAWarning.has(verdict.reason))
    ? [{ type: 'Warning', reason: verdict.reason, message: verdict.message }]
    : [];

/** Nobody waits for these: members have other names meanwhile. */
export const warningsOfStrangers = ({ strangeDisks = [], strangePeers = [] }: Strangers): readonly Told[] => [
  ...strangeDisks.map((name) => passedOver(`PersistentVolumeClaim ${name}`)),
  ...strangePeers.map((name) => passedOver(`EtcdPeer ${name}`)),
];

type Strangers = Pick<ClusterWorld, 'strangeDisks' | 'strangePeers'>;

const passedOver = (what: string): Told => ({
  type: 'Warning',
  reason: 'NameTaken',
  message:
    `${what} has a name that a member of this cluster might have, and does not belong to it: it is left alone, and ` +
    'no member gets its number; delete it if nobody needs it',
});

/** The one scope that an annotation can name: of the operators that run with --cluster-wide. */
export const wideScope = 'clusterwide';

/** A cluster of another scope is another operator's. But one of a scope that no operator can have is nobody's. */
export function warningsOfScope(annotations: Annotations = {}, key = ''): readonly Told[] {
  const scope = annotations[key];
  if (scope === undefined || scope === wideScope) return [];
  const message =
    `the annotation ${key} is ${JSON.stringify(scope)}, so no operator looks after this cluster: ` +
    `remove it, or set it to ${wideScope} where an operator runs with --cluster-wide`;
  return [{ type: 'Warning', reason: 'OutOfScope', message }];
}

type Annotations = Readonly<Record<string, string>>;

/** What an API calls the fields of which we speak. */
interface Fields {
  readonly size: string;
  readonly volume: string;
}

export function warningsAbout({ intent, template }: Blueprint, fields: Fields): readonly Told[] {
  const { size, version } = intent;
  return [
    ...warning('EvenSize', size % 2 === 0 ? evenSize(size, fields.size) : undefined),
    ...warning('KnownFault', warningAbout(version)),
    ...warning('QuotaTooLarge', quotaTooLarge(template, fields.volume)),
  ];
}

const warning = (reason: Reason, message: string | undefined): readonly Told[] =>
  message === undefined ? [] : [{ type: 'Warning', reason, message }];

const evenSize = (size: number, field: string): string =>
  `${field} is ${size}: a cluster of ${size} survives no more failures than one of ${size - 1}; use an odd number`;

/** etcd would fill its volume before it has reached its quota, and end where it should have refused. */
function quotaTooLarge(template: Blueprint['template'], volume: string): string | undefined {
  const quota = template.env.find(({ name }) => name === 'ETCD_QUOTA_BACKEND_BYTES')?.['value'];
  const storage = storageOf(template);
  if (typeof quota !== 'string' || !/^\d+$/.test(quota) || storage === undefined) return undefined;
  return partsOf(quota) < partsOf(storage)
    ? undefined
    : `spec.quotaBackendBytes is ${quota}, and the volume of ${volume} only ${storage}: make it larger than the quota, with room for the log beside it`;
}
