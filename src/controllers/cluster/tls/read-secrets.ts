import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { CertificateNames, KeysFound } from '../../../core/cluster/model/template.ts';
import { looksUpPeers } from '../../../core/cluster/model/version.ts';
import { authoritiesIn, type Bundle, type Holder, holders } from '../../../core/pki/bundle.ts';
import type { Credentials, TlsIdentity } from '../../../etcd/endpoint.ts';
import type { ControllerContext } from '../../shared/context.ts';
import {
  type Fetched,
  fetchSecret,
  hiddenSecret,
  isUnread,
  orUnread,
  type Unread,
} from '../../shared/secret-reader.ts';
import {
  dialledHost,
  distrustReason,
  type Host,
  lookedUpHost,
  missingSecret,
  type Named,
  namesIn,
  type SecretContent,
  textOf,
  trustProblem,
  unusableReason,
} from './validate.ts';
import { credentialsIn, type JudgedCredentials } from './validate-credentials.ts';

/** The content of the Secrets that a spec names. Every pass reads it, so that a renewed Secret is used at once. */
export interface NamedSecrets {
  /** Problems with the Secrets. */
  readonly problems: readonly string[];
  readonly keysFound: KeysFound;
  /** The client certificate and the user of the operator, if they are usable. */
  readonly entry: { readonly tls?: TlsIdentity; readonly credentials?: Credentials };
  /** Why the operator has no client certificate or no user, although the spec names a Secret. */
  readonly lacking: { readonly certificate: string | undefined; readonly user: string | undefined };
  /** Why a Secret that members mount could not be read. */
  readonly unread: string | undefined;
  /** The certificates of the spec for members and operator, if none has a problem. */
  readonly offered: Bundle | undefined;
}

export async function readNamedSecrets(
  read: ReadCluster,
  context: Pick<ControllerContext, 'client' | 'now'>,
): Promise<NamedSecrets> {
  const fetch = (name: string): Promise<Fetched | Unread> =>
    orUnread(name, fetchSecret(name, read.blueprint.intent.namespace, context));
  const look = async (wanted: Wanted | undefined): Promise<Judged> =>
    wanted === undefined ? {} : judge(await fetch(wanted.secret), wanted, context.now());
  const { peer, server, operator } = wantedBy(read);
  const [ofPeers, ofServers, ofOperator, user] = await Promise.all([
    look(peer),
    look(server),
    look(operator),
    readUser(read, fetch),
  ]);
  const entry = { ...ofOperator.identity, ...user.identity };
  const distrust = distrustOf(ofServers, ofOperator);
  return {
    problems: [ofPeers, ofServers, ofOperator, user, { problem: distrust }].flatMap(({ problem }) => problem ?? []),
    keysFound: { peer: ofPeers.names, client: ofServers.names },
    entry,
    lacking: { certificate: lackOf(ofOperator), user: lackOf(user) },
    unread: ofPeers.unread ?? ofServers.unread,
    offered:
      distrust === undefined
        ? offerOf({ peer: ofPeers, server: ofServers, operator: ofOperator }, { peer, server, operator })
        : undefined,
  };
}

const lackOf = ({ problem, identity }: Pick<Judged, 'problem'> & { readonly identity?: object }): string | undefined =>
  identity === undefined ? problem : undefined;

/** Members and operator must trust each other. Checked only if both Secrets are valid. */
function distrustOf(servers: Judged, operator: Judged): string | undefined {
  const [ours, theirs] = [valid(operator), valid(servers)];
  return ours && theirs && trustProblem(theirs, ours);
}

const valid = ({ problem, secret, names }: Judged): Named | undefined =>
  problem === undefined && secret !== undefined && names !== undefined ? { secret, names } : undefined;

type Each<T> = Readonly<Record<Holder, T>>;

/** All wanted certificates, or none: a partly replaced set does not work. */
function offerOf(judged: Each<Judged>, wanted: Each<Wanted | undefined>): Bundle | undefined {
  const used = holders.filter((holder) => wanted[holder] !== undefined);
  const offered = used.flatMap((holder) => {
    const { problem, identity } = judged[holder];
    if (problem !== undefined || identity === undefined) return [];
    const { ca, cert, key } = identity.tls;
    return [[holder, { certificate: cert, key, authorities: authoritiesIn(ca) }] as const];
  });
  return used.length > 0 && offered.length === used.length ? Object.fromEntries(offered) : undefined;
}

async function readUser(
  { operatorCredentials: name, blueprint }: ReadCluster,
  fetch: (name: string) => Promise<Fetched | Unread>,
): Promise<JudgedCredentials> {
  return name === undefined ? {} : credentialsIn(await fetch(name), { name, realm: blueprint.intent.uid });
}

interface Wanted {
  readonly secret: string;
  /** The file names of the original operator. */
  readonly names: CertificateNames;
  readonly hosts: readonly Host[];
  /** `peer`: a peer certificate. `server`: a server certificate. `operator`: the client certificate of the operator. */
  readonly use: 'peer' | 'server' | 'operator';
}

function wantedBy({ blueprint, operatorSecret, managedCertificates }: ReadCluster): Each<Wanted | undefined> {
  const { intent, naming, template } = blueprint;
  const { peerTLS, clientTLS } = managedCertificates === undefined ? template : {};
  const service = `${naming.peerService}.${intent.namespace}.svc`;
  const isLookedUp = looksUpPeers(intent.version) && intent.size > 1;
  const peerHosts = [dialledHost(`${service}${naming.domain}`), ...(isLookedUp ? [lookedUpHost(service)] : [])];
  return {
    peer: peerTLS && { secret: peerTLS.secret, names: peerTLS, hosts: peerHosts, use: 'peer' },
    server: clientTLS && { secret: clientTLS.secret, names: clientTLS, hosts: [dialledHost(service)], use: 'server' },
    operator: operatorSecret && { secret: operatorSecret.name, names: operatorSecret, hosts: [], use: 'operator' },
  };
}

interface Judged {
  readonly problem?: string | undefined;
  readonly unread?: string;
  readonly secret?: SecretContent;
  /** The keys of the files, if the files exist. */
  readonly names?: CertificateNames;
  readonly identity?: { readonly tls: Required<Omit<TlsIdentity, 'serverName'>> };
}

function judge(fetched: Fetched | Unread, { secret, names: original, hosts, use }: Wanted, now: Date): Judged {
  if (fetched === 'missing') return { problem: missingSecret(secret, original) };
  if (fetched === 'hidden') return use === 'operator' ? { problem: hiddenSecret(secret) } : {};
  if (isUnread(fetched)) return { problem: fetched.unread, unread: fetched.unread };
  const names = namesIn(fetched.data, original);
  const flaw = unusableReason(fetched, names);
  if (flaw !== undefined) return { problem: flaw };
  const text = (file: string): string => textOf(fetched.data[file]);
  const tls = { ca: text(names.authority), cert: text(names.certificate), key: text(names.key) };
  return {
    problem: distrustReason(fetched, names, { now, hosts, isPeer: use === 'peer' }),
    secret: fetched,
    names,
    identity: { tls },
  };
}
