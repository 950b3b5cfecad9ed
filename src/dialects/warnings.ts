import type { Verdict } from '../core/plan/cluster/step.ts';
import type { Reason } from '../core/reasons.ts';
import { warningAbout } from '../core/versions/route.ts';
import type { Told } from './dialect.ts';

/** What both APIs warn of, in words of our own: the originals have none for trouble. */

const worthAWarning: ReadonlySet<Reason> = new Set(['MemberStuck', 'UpgradeRefused', 'SecretUnfit']);

export const tellWait = (verdict: Verdict): readonly Told[] =>
  verdict.is === 'wait' && (verdict.needsPerson === true || worthAWarning.has(verdict.reason))
    ? [{ type: 'Warning', reason: verdict.reason, message: verdict.message }]
    : [];

interface Wanted {
  readonly size: number;
  readonly version: string;
}

/** `field` is what the size is called. */
export function warningsAbout({ size, version }: Wanted, field: string): readonly Told[] {
  const fault = warningAbout(version);
  return [
    ...(size % 2 === 0 ? [{ type: 'Warning', reason: 'EvenSize', message: evenSize(size, field) } as const] : []),
    ...(fault === undefined ? [] : [{ type: 'Warning', reason: 'KnownFault', message: fault } as const]),
  ];
}

const evenSize = (size: number, field: string): string =>
  `${field} is ${size}: a cluster of ${size} survives no more failures than one of ${size - 1}; use an odd number`;
