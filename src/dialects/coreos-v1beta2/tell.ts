import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { Told } from '../dialect.ts';
import { volumeDeleted } from '../kept-volumes.ts';
import { type VersionChange, versionChanges } from '../member-status.ts';
import { takenOver, warningsAbout } from '../warnings.ts';
import { foundStatus } from './status.ts';

const added = (name: string): Told => ({
  type: 'Normal',
  reason: 'New Member Added',
  message: `New member ${name} added to cluster`,
});

const removed = (name: string): Told => ({
  type: 'Normal',
  reason: 'Member Removed',
  message: `Existing member ${name} removed from the cluster`,
});

/** The original's Events, in its own words. */
export function tellStep(step: Step): readonly Told[] {
  switch (step.kind) {
    case 'start-carrier':
      return step.join.as === 'founder' ? [added(step.name)] : [];
    case 'add-member':
      return [added(step.name)];
    case 'remove-member':
      return step.because === 'dead' ? [replacing(step.name), removed(step.name)] : [removed(step.name)];
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
    case 'discard-carrier':
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

/** Written when members were seen to run another version, and not before. */
export const tellMembers = (previous: unknown, status: object): readonly Told[] => {
  const [before, after] = [previous ?? {}, status].map((each) => foundStatus.parse(each).memberStatus ?? []);
  return versionChanges(before ?? [], after ?? []).map(moved);
};

const moved = ({ name, from, to, isDowngrade }: VersionChange): Told =>
  isDowngrade
    ? {
        type: 'Normal',
        reason: 'Member Downgraded',
        message: `Member ${name} downgraded from ${from} to ${to}`,
      }
    : {
        type: 'Normal',
        reason: 'Member Upgraded',
        message: `Member ${name} upgraded from ${from} to ${to} `, // with the original's blank at its end
      };

const replacing = (name: string): Told => ({
  type: 'Normal',
  reason: 'Replacing Dead Member',
  message: `The dead member ${name} is being replaced`,
});

export const tellSpec = (blueprint: Blueprint): readonly Told[] =>
  warningsAbout(blueprint, { size: 'spec.size', volume: 'spec.pod.persistentVolumeClaimSpec' });
