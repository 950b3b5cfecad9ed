import type { ClusterWorld } from '../../model/cluster.ts';
import { announceMove } from './announce-move.ts';
import { deleteKeptVolumes } from './delete-kept-volumes.ts';
import { discardStrays } from './discard-strays.ts';
import { growByOne } from './grow-by-one.ts';
import { holdWhileCorrupt } from './hold-while-corrupt.ts';
import { honourPause } from './honour-pause.ts';
import { dropSecrets, issueCertificates, stageCertificates, waitForCertificates } from './keep-certificates.ts';
import { mendUnhealthy } from './mend-unhealthy.ts';
import { mendUnreachable } from './mend-unreachable.ts';
import { outliveCertificates } from './outlive-certificates.ts';
import { promoteLearner } from './promote-learner.ts';
import { rememberBootstrap } from './remember-bootstrap.ts';
import { rememberFormation } from './remember-formation.ts';
import { replaceDeadMember } from './replace-dead-member.ts';
import { returnToOwnDisk } from './return-to-own-disk.ts';
import { rollOne } from './roll-one.ts';
import { saveFirst } from './save-first.ts';
import { sealCarriers } from './seal-carriers.ts';
import { prepareSecondVoter } from './second-voter.ts';
import { shrinkByOne } from './shrink-by-one.ts';
import { startFounders } from './start-founders.ts';
import { startNewcomer, startRumouredNewcomer } from './start-newcomer.ts';
import type { Rule, Verdict } from './step.ts';
import { takeOver } from './take-over.ts';
import { waitForAlarms } from './wait-for-alarms.ts';
import { waitForContact } from './wait-for-contact.ts';
import { holdForSecrets, tellUnneededSecret, waitForSecrets } from './wait-for-secrets.ts';
import { waitForSight } from './wait-for-sight.ts';
import { waitForUnhealthy } from './wait-for-unhealthy.ts';
import { waitForVolumes } from './wait-for-volumes.ts';
import { waitForWord } from './wait-for-word.ts';

// The order is the policy. Read it top to bottom; the first rule with an opinion wins, so at most one thing that can
// disturb happens in a pass, and every rule may rely on those above it.
const rules: readonly Rule[] = [
  honourPause,
  waitForSight,
  waitForWord,
  issueCertificates,
  stageCertificates,
  waitForSecrets,
  rememberBootstrap,
  takeOver,
  rememberFormation,
  startFounders, // below this line the cluster has formed, and nothing starts as new
  returnToOwnDisk,
  startRumouredNewcomer,
  outliveCertificates,
  mendUnreachable,
  waitForContact, // below this line membership is known, and a majority is healthy
  sealCarriers,
  holdWhileCorrupt, // below this line all members have the same data
  discardStrays,
  shrinkByOne,
  startNewcomer,
  replaceDeadMember,
  mendUnhealthy,
  promoteLearner,
  waitForUnhealthy, // below this line everybody is a healthy voter
  holdForSecrets, // below this line a new body can start
  prepareSecondVoter,
  growByOne,
  waitForAlarms,
  saveFirst,
  announceMove,
  rollOne,
  waitForCertificates,
  dropSecrets,
  deleteKeptVolumes,
  waitForVolumes,
  tellUnneededSecret,
];

export function planCluster(world: ClusterWorld): Verdict {
  for (const rule of rules) {
    const verdict = rule(world);
    if (verdict !== undefined) return verdict;
  }
  return { is: 'settled' };
}
