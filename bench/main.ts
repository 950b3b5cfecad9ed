import { aMemberReturns } from './a-member-returns.ts';
import { rollingUpgrade } from './rolling-upgrade.ts';
import { runBenchmarks } from './support/bed.ts';
import { tenClustersServe } from './ten-clusters-serve.ts';
import { threeBecomeFive } from './three-become-five.ts';
import { threeMembersServe } from './three-members-serve.ts';
import { whatTheOperatorCosts } from './what-the-operator-costs.ts';

/** Memory is measured last, after all other benchmarks. */
await runBenchmarks([
  threeMembersServe,
  aMemberReturns,
  threeBecomeFive,
  rollingUpgrade,
  tenClustersServe,
  whatTheOperatorCosts,
]);
