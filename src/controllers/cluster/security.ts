import type { Holder } from '../../core/certificates/bundle.ts';
import type { Planes } from '../../core/desired/encryption.ts';
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
import { lookIntoSecrets, type SecretsSeen } from './secrets.ts';
import { isShownByAll } from './shown-by-all.ts';
import type { Tools } from './sources.ts';

/** All that a pass knows of Secrets: those that the spec names, and those that we keep. */
export interface Security {
  readonly problems: readonly string[];
  /** What members' bodies are made of beside what the spec says. */
  readonly template: Pick<MemberTemplate, 'keysFound' | 'kept'>;
  readonly entry: SecretsSeen['entry'];
  /** What keeps the operator from entering at all, if something does. */
  readonly locked: string | undefined;
  readonly certificates: CertificatesSeen | undefined;
}

/** The operator enters with the certificate that is kept: what the spec names by now may not be believed by anybody yet. */
export async function lookAtSecurity(read: ReadCluster, planes: Planes, tools: SecretTools): Promise<Security> {
  const named = await lookIntoSecrets(read, tools);
  const { seen, problems } = await lookAtCertificates(read, { given: named, inUse: holdersIn(planes) }, tools);
  const tls = seen && entryWith(seen);
  const { byCertificate, byUser } = named.locked;
  return {
    problems: [...named.problems, ...problems],
    template: { keysFound: named.keysFound, kept: seen && keptSecret(seen, read.blueprint.naming) },
    entry: { ...named.entry, ...(tls === undefined ? {} : { tls }) },
    locked: (tls === undefined ? byCertificate : undefined) ?? byUser,
    certificates: seen,
  };
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
