import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { Told } from '../dialect.ts';
import { volumeDeleted } from '../kept-volumes.ts';
import { type VersionChange, versionChanges } from '../member-status.ts';
import { takenOver, warningsAbout } from '../warnings.ts';
import { foundClusterStatus } from './status.ts';

const normal = (reason: string, message: string): Told => ({ type: 'Normal', reason, message });

/** The original's Events, in its own words; it has none for what it cannot do. */
export function tellStep(step: Step): readonly Told[] {
  switch (step.kind) {
    case 'start-carrier':
      return step.join.as === 'returner'
        ? []
        : [normal('PeerCreated', `Created a new EtcdPeer with name "${step.name}"`)];
    case 'discard-carrier':
      return [normal('PeerRemoved', `Removed EtcdPeer with name "${step.name}"`)];
    case 'add-member':
      return [normal('MemberAdded', `Added a new member with name "${step.name}"`)];
    case 'remove-member':
      return [normal('MemberRemoved', `Removed a member with name "${step.name}"`)];
    case 'adopt-carrier':
      return [takenOver(step.name)];
    case 'delete-volume':
      return [volumeDeleted(step.claim, step.member)];
    case 'release-carrier':
    case 'remember-bootstrap':
    case 'remember-formation':
    case 'seal-carrier':
    case 'stop-carrier':
    case 'change-image':
    case 'promote-member':
    case 'relabel-carrier':
    case 'move-leader':
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

/** Written when members were seen to run another version. The original has no Event for it. */
export const tellMembers = (previous: unknown, status: object): readonly Told[] => {
  const [before, after] = [previous ?? {}, status].map((each) => foundClusterStatus.parse(each).members ?? []);
  return versionChanges(before ?? [], after ?? []).map(moved);
};

const moved = ({ name, from, to, isDowngrade }: VersionChange): Told =>
  isDowngrade
    ? normal('MemberDowngraded', `Downgraded the member with name "${name}" from ${from} to ${to}`)
    : normal('MemberUpgraded', `Upgraded the member with name "${name}" from ${from} to ${to}`);

export const tellService = (name: string): readonly Told[] => [
  normal('ServiceCreated', `Created service with name "${name}"`),
];

export const tellSpec = (blueprint: Blueprint): readonly Told[] =>
  warningsAbout(blueprint, { size: 'spec.replicas', volume: 'spec.storage.volumeClaimTemplate' });
