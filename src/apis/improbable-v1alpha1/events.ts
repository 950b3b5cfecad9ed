import type { Step } from '../../core/cluster/plan/step.ts';
import { isUpkeep, type UpkeepStep } from '../../core/cluster/plan/upkeep/step.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { EventContent } from '../common/dialect.ts';
import { type VersionChange, versionChanges } from '../common/status/member-status.ts';
import { volumeDeleted } from '../common/status/removed-volumes.ts';
import { memberAdopted, warningsAbout } from '../common/warnings.ts';
import { storedClusterStatusOf } from './status.ts';

const normal = (reason: string, message: string): EventContent => ({ type: 'Normal', reason, message });

/** The Events of the original, with its texts, for the steps that the original has. */
export function eventsOfStep(step: Step): readonly EventContent[] {
  if (isUpkeep(step)) return eventsOfUpkeep(step);
  switch (step.kind) {
    case 'start-member-pod':
      return step.join.as === 'restarting'
        ? []
        : [normal('PeerCreated', `Created a new EtcdPeer with name "${step.name}"`)];
    case 'delete-member-pod':
      return [normal('PeerRemoved', `Removed EtcdPeer with name "${step.name}"`)];
    case 'add-member':
      return [normal('MemberAdded', `Added a new member with name "${step.name}"`)];
    case 'remove-member':
      return [normal('MemberRemoved', `Removed a member with name "${step.name}"`)];
    case 'adopt-member-pod':
      return [memberAdopted(step.name)];
    case 'delete-volume':
      return [volumeDeleted(step.claim, step.member)];
    case 'release-member-pod':
    case 'record-bootstrap':
    case 'record-formation':
    case 'forbid-rebootstrap':
    case 'stop-member-pod':
    case 'change-image':
    case 'promote-member':
    case 'relabel-member-pod':
    case 'transfer-leadership':
    case 'make-backup':
    case 'update-peer-url':
    case 'enable-downgrade':
    case 'cancel-downgrade':
    case 'issue-certificates':
    case 'stage-certificates':
    case 'drop-secrets':
      return [];
    default:
      return step satisfies never;
  }
}

/** Version changes are reported once members run the new version. The original has no such Event. */
export const eventsOfMembers = (previous: unknown, status: object): readonly EventContent[] => {
  const [before, after] = [previous, status].map((each) => storedClusterStatusOf(each).members ?? []);
  return versionChanges(before ?? [], after ?? []).map(versionChanged);
};

const versionChanged = ({ name, from, to, isDowngrade }: VersionChange): EventContent =>
  isDowngrade
    ? normal('MemberDowngraded', `Downgraded the member with name "${name}" from ${from} to ${to}`)
    : normal('MemberUpgraded', `Upgraded the member with name "${name}" from ${from} to ${to}`);

const eventsOfUpkeep = (step: UpkeepStep): readonly EventContent[] =>
  step.kind === 'create-object' && step.object.kind === 'Service'
    ? [normal('ServiceCreated', `Created service with name "${step.object.metadata.name}"`)]
    : [];

export const eventsOfSpec = (blueprint: Blueprint): readonly EventContent[] =>
  warningsAbout(blueprint, {
    size: 'spec.replicas',
    pod: 'spec.podTemplate',
    volume: 'spec.storage.volumeClaimTemplate',
  });
