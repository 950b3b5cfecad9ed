import type { Stage } from '../../certificates/staging.ts';
import type { Certificates, ClusterWorld } from '../../model/cluster.ts';
import { act, type Rule, wait } from './step.ts';

/** Certificates of our own making are issued before anybody needs them, and long before they end, whoever answers. */
export const issueCertificates: Rule = ({ certificates }) => {
  const due = certificates?.due ?? 'nothing';
  if (due === 'nothing') return undefined;
  const says = due === 'authorities' ? 'issuing authorities and certificates' : 'issuing new certificates';
  return act('Certificates', says, { kind: 'issue-certificates', due });
};

/** Carries what is offered to where members find it, a stage at a time. None of it stops anybody. */
export const stageCertificates: Rule = (world) => {
  const { certificates } = world;
  if (certificates?.next === undefined || !mayFollow(certificates.next, certificates, world)) return undefined;
  const stage = certificates.next;
  return act('Certificates', says[stage], { kind: 'stage-certificates', stage });
};

/** Tells what the next stage waits for when nothing else is left to do. */
export const waitForCertificates: Rule = ({ certificates }) =>
  certificates?.next === undefined
    ? undefined
    : wait(
        'Certificates',
        'waiting until every member shows its new certificate, before the old authority is forgotten',
      );

/** When all is done and nobody has certificates any more, none are left lying about. */
export const dropSecrets: Rule = ({ leftSecrets: names = [] }) =>
  names.length === 0
    ? undefined
    : act('Certificates', `removing ${names.join(', ')}, which nobody uses any more`, { kind: 'drop-secrets', names });

const says: Readonly<Record<Stage | 'publish', string>> = {
  adopt: 'keeping certificates for members',
  trust: 'having members believe new authorities beside those they know',
  show: 'giving new certificates to members',
  forget: 'having members forget authorities that nobody needs any more',
  publish: 'giving certificates to clients',
};

function mayFollow(stage: Stage | 'publish', certificates: Certificates, world: ClusterWorld): boolean {
  if (stage === 'show') return doAllBelieve(certificates, world);
  return stage !== 'forget' || (certificates.isShownByAll && doAllBelieve(certificates, world));
}

/** Whether everybody has started since the authorities changed. Whoever has no pod will read them when it gets one. */
const doAllBelieve = ({ believed }: Certificates, { carriers }: ClusterWorld): boolean =>
  carriers.every(({ phase, believes }) => phase === 'gone' || phase === 'ended' || believes === believed);
