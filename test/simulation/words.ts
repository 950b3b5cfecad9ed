import type { MemberNames } from '../../src/core/model/intent.ts';
import type { CarrierName, MemberId } from '../../src/core/model/names.ts';
import type { Join } from '../../src/core/plan/cluster/step.ts';

export type * from '../../src/core/model/cluster.ts';
export type * from '../../src/core/model/intent.ts';
export type { KeptVolume } from '../../src/core/model/kept-volumes.ts';
export type * from '../../src/core/model/names.ts';
export type * from '../../src/core/plan/cluster/step.ts';

/** What a simulated cluster begins with. */
export interface Settings {
  readonly size: number;
  readonly durable: boolean;
  readonly version: string;
  readonly memberNames?: MemberNames;
}

export interface Pod {
  readonly name: CarrierName;
  readonly join: Join['as'];
  sealed: boolean;
  up: boolean;
  version: string;
  readonly template: string;
  /** What is on its disk: which cluster it has been part of, if any. */
  data: string | undefined;
}

export interface Entry {
  readonly id: MemberId;
  readonly name: CarrierName;
  role: 'voter' | 'learner';
  started: boolean;
}
