import type { Holder } from '../../core/certificates/bundle.ts';
import type { Plane, Planes } from '../../core/desired/encryption.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Certificates } from '../../core/model/cluster.ts';
import type { MemberTemplate } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import {
  type CertificatesSeen,
  certificatesFor,
  entryWith,
  keptSecret,
  lookAtCertificates,
  type SecretTools,
} from './certificates.ts';
import { planesOf } from './planes.ts';
import { lookIntoSecrets, type SecretsSeen } from './secrets.ts';
import { isShownByAll } from './shown-by-all.ts';
import type { Tools } from './sources.ts';

/** All that a pass knows of Secrets: those that the spec names, and those that we keep. */
export interface Security {
  readonly problems: readonly string[];
  /** What members' bodies are made of beside what the spec says. */
  readonly template: Pick<MemberTemplate, 'keysFound' | 'kept'>;
  /** Why it is not known what members' pods mount: a Secret could not be read. */
  readonly unread: string | undefined;
  readonly entry: SecretsSeen['entry'];
  /** What keeps the operator from entering at all, if something does. */
  readonly locked: string | undefined;
  /** Why there is no user to enter as, although the spec names one: etcd is asked without, which matters only where it has users. */
  readonly userFlaw: string | undefined;
  readonly certificates: CertificatesSeen | undefined;
  /** Whose certificates nobody uses. */
  readonly idle: readonly Holder[];
}

/** The operator enters with the certificate that is kept: what the spec names by now may not be believed by anybody yet. */
export async function lookAtSecurity(
  read: ReadCluster,
  { planes, pods }: Speaking,
  tools: SecretTools,
): Promise<Security> {
  const named = await lookIntoSecrets(read, tools);
  const idle = idleIn(planes, pods);
  const looking = { given: named, inUse: holdersIn(planes), idle };
  const { seen, problems, unread } = await lookAtCertificates(read, looking, tools);
  const tls = seen && entryWith(seen);
  const kept = seen && keptSecret(seen, read.blueprint.naming);
  return {
    problems: [...named.problems, ...problems],
    template: { keysFound: named.keysFound, kept },
    unread: kept === undefined ? (unread ?? named.unread) : undefined,
    entry: { ...named.entry, ...(tls === undefined ? {} : { tls }) },
    locked: tls === undefined && needsCertificate(pods) ? named.lacking.certificate : undefined,
    userFlaw: named.lacking.user,
    certificates: seen,
    idle,
  };
}

/** Who serves clients without encryption, as yet or by now, can be asked without a certificate. */
const needsCertificate = (pods: Speaking['pods']): boolean =>
  pods.length === 0 || pods.some((pod) => planesOf(pod).client === 'encrypted');

interface Speaking {
  readonly planes: Planes;
  /** Who speaks at all. */
  readonly pods: readonly Stored<Pod>[];
}

/** Whose certificates nobody has, and nobody is to have. */
function idleIn(planes: Planes, pods: Speaking['pods']): readonly Holder[] {
  const isIdle = (plane: Plane): boolean =>
    planes[plane] === 'plain' && pods.every((pod) => planesOf(pod)[plane] === 'plain');
  return [
    ...(isIdle('peer') ? (['peer'] as const) : []),
    ...(isIdle('client') ? (['server', 'operator'] as const) : []),
  ];
}

/** What the spec asks for, and under which keys its Secrets have it. */
export const withKeys = (blueprint: Blueprint, { template }: Security): Blueprint => ({
  ...blueprint,
  template: { ...blueprint.template, ...template },
});

const holdersIn = ({ peer, client }: Planes): readonly Holder[] => [
  ...(peer === 'plain' ? [] : (['peer'] as const)),
  ...(client === 'plain' ? [] : (['server'] as const)),
];

/** Members are looked at only when the old authority is about to be forgotten: it costs two connections each. */
export async function certificatesOf(
  { certificates: seen }: Security,
  pods: readonly Stored<Pod>[],
  tools: Tools,
): Promise<Certificates | undefined> {
  if (seen === undefined) return undefined;
  const matters = seen.staging?.stage === 'forget';
  return certificatesFor(seen, matters && (await isShownByAll(pods, seen, tools)));
}
