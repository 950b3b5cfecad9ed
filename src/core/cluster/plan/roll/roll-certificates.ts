import type { Stage } from '../../../pki/staging.ts';
import type { Certificates, ClusterWorld, KnownWorld } from '../../model/cluster.ts';
import { act, type Rule, wait } from '../step.ts';

/**
 * Issues managed certificates before members need them, and renews them long before they expire, also without quorum.
 */
export const issueDueCertificates: Rule = ({ certificates }) => {
  const due = certificates?.due ?? 'nothing';
  if (due === 'nothing') return undefined;
  const message = due === 'authorities' ? 'issuing new CAs and certificates' : 'issuing new certificates';
  return act('Certificates', message, { kind: 'issue-certificates', due });
};

/** Moves new certificates into the member Secret, one stage at a time. No stage restarts a member. */
export const stageCertificates: Rule = (world) => {
  const { certificates } = world;
  if (certificates?.next === undefined || !mayFollow(certificates.next, certificates, world)) return undefined;
  const stage = certificates.next;
  return act('Certificates', messages[stage], { kind: 'stage-certificates', stage });
};

/** Reports the condition for the next stage if nothing else is left to do. */
export const waitForCertificates: Rule<KnownWorld> = ({ certificates }) =>
  certificates?.next === undefined
    ? undefined
    : wait('Certificates', 'waiting for every member to serve its new certificate before the old CA is removed');

/** Deletes Secrets of ours that no member uses after TLS was switched off. */
export const dropSecrets: Rule<KnownWorld> = ({ obsoleteSecrets: names = [] }) =>
  names.length === 0
    ? undefined
    : act('Certificates', `deleting unused Secrets ${names.join(', ')}`, { kind: 'drop-secrets', names });

const messages: Readonly<Record<Stage | 'publish', string>> = {
  adopt: 'storing certificates in the member Secret',
  trust: 'rolling out new CA: members trust the old and the new CA',
  show: 'rolling out new certificates to members',
  forget: 'removing the old CA from members',
  publish: 'publishing the client certificate',
};

function mayFollow(stage: Stage | 'publish', certificates: Certificates, world: ClusterWorld): boolean {
  if (stage === 'show') return areAllTrusting(certificates, world);
  return stage !== 'forget' || (certificates.isServedByAll && areAllTrusting(certificates, world));
}

/** True if every pod has started with the stored CAs. A member without a pod reads them at its next start. */
const areAllTrusting = (certificates: Certificates, { memberPods }: ClusterWorld): boolean =>
  memberPods.every(({ phase, caHash }) => phase === 'gone' || phase === 'ended' || caHash === certificates.caHash);
