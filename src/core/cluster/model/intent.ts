import type { MemberName } from './names.ts';

export interface ClusterIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly size: number;
  readonly version: string;
  readonly paused: boolean;
  /** The UID of the EtcdRestore that holds the cluster, if any. */
  readonly heldBy?: string | undefined;
  readonly memberNames: MemberNames;
  /** How long a member may be unreachable before it is replaced. */
  readonly replaceAfterSeconds: number;
  /** How long the PVC of a removed member is kept; 0 deletes it at once. */
  readonly keepVolumesSeconds: number;
  /** The peer URL of a member. */
  readonly peerURLOf: (name: MemberName) => string;
  /** The image of a version. */
  readonly imageOf: (version: string) => string;
  /** True if the spec names the image by digest. The digests of other versions are unknown. */
  readonly isPinned?: boolean;
}

/**
 * `random`: names end in random letters and are never reused. `ordinal`: names end in numbers from 0; scaling down
 * removes the highest number.
 */
export type MemberNames = 'random' | 'ordinal';
