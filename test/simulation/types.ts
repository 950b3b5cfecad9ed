import type { MemberNames } from '../../src/core/cluster/model/intent.ts';
import type { MemberId, MemberName } from '../../src/core/cluster/model/names.ts';
import type { Join } from '../../src/core/cluster/plan/step.ts';

export type * from '../../src/core/cluster/model/cluster.ts';
export type * from '../../src/core/cluster/model/intent.ts';
export type * from '../../src/core/cluster/model/names.ts';
export type { KeptVolume } from '../../src/core/cluster/model/removed-volumes.ts';
export type * from '../../src/core/cluster/plan/step.ts';

/** The initial settings of a simulated cluster. */
export interface Settings {
  readonly size: number;
  readonly durable: boolean;
  readonly version: string;
  readonly memberNames?: MemberNames;
}

export interface Pod {
  readonly name: MemberName;
  readonly join: Join['as'];
  bootstrapForbidden: boolean;
  up: boolean;
  version: string;
  readonly template: string;
  /** The ID of the cluster whose data is on the volume, if any. */
  data: string | undefined;
}

export interface Entry {
  readonly id: MemberId;
  readonly name: MemberName;
  role: 'voter' | 'learner';
  started: boolean;
}
