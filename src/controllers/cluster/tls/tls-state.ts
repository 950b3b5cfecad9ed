import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { Certificates } from '../../../core/cluster/model/cluster.ts';
import type { MemberTemplate } from '../../../core/cluster/model/template.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { TlsChannel, TlsModes } from '../../../core/manifests/tls-mode.ts';
import type { Holder } from '../../../core/pki/bundle.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import type { ControllerContext } from '../../shared/context.ts';
import {
  type CertificatesSeen,
  certificatesFor,
  memberSecretOf,
  observeCertificates,
  operatorIdentity,
  type SecretContext,
} from './member-bundle.ts';
import { tlsModesOf } from './mode.ts';
import { type NamedSecrets, readNamedSecrets } from './read-secrets.ts';
import { isServedByAll } from './served-certificates.ts';

/** The Secrets of the spec and the managed Secrets of a cluster. */
export interface Security {
  readonly problems: readonly string[];
  /** The parts of the pod template that come from Secrets. */
  readonly template: Pick<MemberTemplate, 'keysFound' | 'memberSecret'>;
  /** Why the Secret that pods mount could not be read. */
  readonly unread: string | undefined;
  readonly entry: NamedSecrets['entry'];
  /** Why the operator cannot connect to etcd at all. */
  readonly locked: string | undefined;
  /**
   * Why the user of the spec is unusable. Requests are then sent without a user, which fails only if auth is enabled.
   */
  readonly userProblem: string | undefined;
  readonly certificates: CertificatesSeen | undefined;
  /** The holders whose certificates are not used. */
  readonly idle: readonly Holder[];
}

/** The operator uses the client certificate of the managed Secret: members may not trust that of the spec yet. */
export async function observeSecurity(
  read: ReadCluster,
  { tlsModes, pods }: TlsPods,
  context: SecretContext,
): Promise<Security> {
  const named = await readNamedSecrets(read, context);
  const idle = idleIn(tlsModes, pods);
  const inputs = { given: named, inUse: holdersIn(tlsModes), idle };
  const { seen, problems, unread } = await observeCertificates(read, inputs, context);
  const tls = seen && operatorIdentity(seen);
  const memberSecret = seen && memberSecretOf(seen, read.blueprint.naming);
  return {
    problems: [...named.problems, ...problems],
    template: { keysFound: named.keysFound, memberSecret },
    unread: memberSecret === undefined ? (unread ?? named.unread) : undefined,
    entry: { ...named.entry, ...(tls === undefined ? {} : { tls }) },
    locked: tls === undefined && needsCertificate(pods) ? named.lacking.certificate : undefined,
    userProblem: named.lacking.user,
    certificates: seen,
    idle,
  };
}

/** Plaintext and dual-mode members accept requests without a client certificate. */
const needsCertificate = (pods: TlsPods['pods']): boolean =>
  pods.length === 0 || pods.some((pod) => tlsModesOf(pod).client === 'encrypted');

interface TlsPods {
  readonly tlsModes: TlsModes;
  readonly pods: readonly Stored<Pod>[];
}

/** The holders whose certificates no pod uses or will use. */
function idleIn(tlsModes: TlsModes, pods: TlsPods['pods']): readonly Holder[] {
  const isIdle = (plane: TlsChannel): boolean =>
    tlsModes[plane] === 'plain' && pods.every((pod) => tlsModesOf(pod)[plane] === 'plain');
  return [
    ...(isIdle('peer') ? (['peer'] as const) : []),
    ...(isIdle('client') ? (['server', 'operator'] as const) : []),
  ];
}

/** Adds the keys of Secrets and the managed Secret to the pod template. */
export const withKeys = (blueprint: Blueprint, { template }: Security): Blueprint => ({
  ...blueprint,
  template: { ...blueprint.template, ...template },
});

const holdersIn = ({ peer, client }: TlsModes): readonly Holder[] => [
  ...(peer === 'plain' ? [] : (['peer'] as const)),
  ...(client === 'plain' ? [] : (['server'] as const)),
];

/**
 * Served certificates are checked only before the old CA is dropped: the check needs two connections to each member.
 */
export async function certificatesOf(
  { certificates: seen }: Security,
  pods: readonly Stored<Pod>[],
  context: ControllerContext,
): Promise<Certificates | undefined> {
  if (seen === undefined) return undefined;
  const isChecked = seen.staging?.stage === 'forget';
  return certificatesFor(seen, isChecked && (await isServedByAll(pods, seen, context)));
}
