import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { warningAbout } from '../../core/versions/route.ts';
import type { Told } from '../dialect.ts';

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
    case 'remember-bootstrap':
    case 'remember-formation':
    case 'seal-carrier':
    case 'stop-carrier':
    case 'change-image':
    case 'promote-member':
    case 'relabel-carrier':
    case 'move-leader':
    case 'update-peer-url':
    case 'enable-downgrade':
    case 'cancel-downgrade':
    case 'issue-certificates':
    case 'stage-certificates':
      return [];
    default:
      return step satisfies never;
  }
}

export function tellSpec({ intent: { size, version } }: Blueprint): readonly Told[] {
  const fault = warningAbout(version);
  return [
    ...(size % 2 === 0 ? [{ type: 'Warning', reason: 'EvenSize', message: evenSize(size) } as const] : []),
    ...(fault === undefined ? [] : [{ type: 'Warning', reason: 'KnownFault', message: fault } as const]),
  ];
}

const evenSize = (size: number): string =>
  `spec.replicas is ${size}: a cluster of ${size} survives no more failures than one of ${size - 1}; use an odd number`;
