import type { CarrierName } from './names.ts';

export interface ClusterIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly size: number;
  readonly version: string;
  readonly paused: boolean;
  /** The restore that has asked for the pause, where one has. */
  readonly heldBy?: string | undefined;
  readonly memberNames: MemberNames;
  /** How long a member may be out of reach before another takes its place. */
  readonly replaceAfterSeconds: number;
  /** How long the volume of a removed member is kept; 0: it is deleted at once. */
  readonly keepVolumesSeconds: number;
  /** How a member's peer URL is made of its name. */
  readonly peerURLOf: (name: CarrierName) => string;
  /** The image of a version. */
  readonly imageOf: (version: string) => string;
  /** Whether the spec names the image of its version by digest; it knows no digest of any other version. */
  readonly isPinned?: boolean;
}

/**
 * `random`: members are named by chance, and none is like another. `ordinal`: by numbers from nought, of which the lowest are
 * to stay.
 */
export type MemberNames = 'random' | 'ordinal';
