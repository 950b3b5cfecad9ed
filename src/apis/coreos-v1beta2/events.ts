import type { Step } from '../../core/cluster/plan/step.ts';
import { isUpkeep } from '../../core/cluster/plan/upkeep/step.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import type { EventContent } from '../common/dialect.ts';
import { type VersionChange, versionChanges } from '../common/status/member-status.ts';
import { volumeDeleted } from '../common/status/removed-volumes.ts';
import { memberAdopted, warningsAbout } from '../common/warnings.ts';
import { storedStatusOf } from './status.ts';

const added = (name: string): EventContent => ({
  type: 'Normal',
  reason: 'New Member Added',
  message: `New member ${name} added to cluster`,
});

const removed = (name: string): EventContent => ({
  type: 'Normal',
  reason: 'Member Removed',
  message: `Existing member ${name} removed from the cluster`,
});

/** The Events of the original, with its texts. */
export function eventsOfStep(step: Step): readonly EventContent[] {
  if (isUpkeep(step)) return [];
  switch (step.kind) {
    case 'start-member-pod':
      return step.join.as === 'bootstrap' ? [added(step.name)] : [];
    case 'add-member':
      return [added(step.name)];
    case 'remove-member':
      return step.because === 'dead' ? [replacing(step.name), removed(step.name)] : [removed(step.name)];
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
    case 'delete-member-pod':
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

/** Version changes are reported once members run the new version. */
export const eventsOfMembers = (previous: unknown, status: object): readonly EventContent[] => {
  const [before, after] = [previous, status].map((each) => storedStatusOf(each).memberStatus ?? []);
  return versionChanges(before ?? [], after ?? []).map(versionChanged);
};

const versionChanged = ({ name, from, to, isDowngrade }: VersionChange): EventContent =>
  isDowngrade
    ? {
        type: 'Normal',
        reason: 'Member Downgraded',
        message: `Member ${name} downgraded from ${from} to ${to}`,
      }
    : {
        type: 'Normal',
        reason: 'Member Upgraded',
        message: `Member ${name} upgraded from ${from} to ${to} `, // the original's text ends with a blank
      };

const replacing = (name: string): EventContent => ({
  type: 'Normal',
  reason: 'Replacing Dead Member',
  message: `The dead member ${name} is being replaced`,
});

export const eventsOfSpec = (blueprint: Blueprint): readonly EventContent[] =>
  warningsAbout(blueprint, { size: 'spec.size', pod: 'spec.pod', volume: 'spec.pod.persistentVolumeClaimSpec' });
