export type * from '../../src/core/model/cluster.ts';
export type * from '../../src/core/plan/cluster/step.ts';
