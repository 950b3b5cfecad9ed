import { authoritiesIn, type Bundle, type Holder, holders } from '../../core/certificates/bundle.ts';
import type { CertificateNames, KeysFound } from '../../core/model/template.ts';
import { looksUpPeers } from '../../core/model/version.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { Credentials, TlsIdentity } from '../../etcd/endpoint.ts';
import { type Fetched, fetchSecret, hiddenSecret, isUnread, orUnread, type Unread } from './fetch-secret.ts';
import {
  dialledHost,
  distrustBetween,
  doubtAbout,
  flawIn,
  type Host,
  lookedUpHost,
  missingSecret,
  type Named,
  namesIn,
  type SecretContent,
  textOf,
} from './judge-certificates.ts';
import { credentialsIn, type JudgedCredentials } from './judge-credentials.ts';
import type { Tools } from './sources.ts';

/** What is in the Secrets that a spec names; looked at in every pass, so that what was renewed or corrected is used at once. */
export interface SecretsSeen {
  /** What is wrong with them. */
  readonly problems: readonly string[];
  readonly keysFound: KeysFound;
  /** How the operator itself enters, where it can. */
  readonly entry: { readonly tls?: TlsIdentity; readonly credentials?: Credentials };
  /** Why the operator has no certificate to enter with, or no user to enter as, although the spec names one. */
  readonly lacking: { readonly certificate: string | undefined; readonly user: string | undefined };
  /** Why a Secret that members mount could not be read. */
  readonly unread: string | undefined;
  /** What the spec offers to members and the operator, where nothing is wrong with it. */
  readonly offered: Bundle | undefined;
}

export async function lookIntoSecrets(read: ReadCluster, tools: Pick<Tools, 'client' | 'now'>): Promise<SecretsSeen> {
  const fetch = (name: string): Promise<Fetched | Unread> =>
    orUnread(name, fetchSecret(name, read.blueprint.intent.namespace, tools));
  const look = async (wanted: Wanted | undefined): Promise<Judged> =>
    wanted === undefined ? {} : judge(await fetch(wanted.secret), wanted, tools.now());
  const { peer, server, operator } = wantedBy(read);
  const [ofPeers, ofServers, ofOperator, user] = await Promise.all([
    look(peer),
    look(server),
    look(operator),
    lookForUser(read, fetch),
  ]);
  const entry = { ...ofOperator.identity, ...user.identity };
  const strangers = distrustOf(ofServers, ofOperator);
  return {
    problems: [ofPeers, ofServers, ofOperator, user, { problem: strangers }].flatMap(({ problem }) => problem ?? []),
    keysFound: { peer: ofPeers.names, client: ofServers.names },
    entry,
    lacking: { certificate: lackOf(ofOperator), user: lackOf(user) },
    unread: ofPeers.unread ?? ofServers.unread,
    offered:
      strangers === undefined
        ? offerOf({ peer: ofPeers, server: ofServers, operator: ofOperator }, { peer, server, operator })
        : undefined,
  };
}

const lackOf = ({ problem, identity }: Pick<Judged, 'problem'> & { readonly identity?: object }): string | undefined =>
  identity === undefined ? problem : undefined;

/** Members and the operator have to believe each other. Where one of them is unfit already, nothing more is said. */
function distrustOf(servers: Judged, operator: Judged): string | undefined {
  const [ours, theirs] = [fitting(operator), fitting(servers)];
  return ours && theirs && distrustBetween(theirs, ours);
}

const fitting = ({ problem, secret, names }: Judged): Named | undefined =>
  problem === undefined && secret !== undefined && names !== undefined ? { secret, names } : undefined;

type Each<T> = Readonly<Record<Holder, T>>;

/** All that is wanted, or nothing: what is half replaced fits nobody. */
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

async function lookForUser(
  { operatorCredentials: name, blueprint }: ReadCluster,
  fetch: (name: string) => Promise<Fetched | Unread>,
): Promise<JudgedCredentials> {
  return name === undefined ? {} : credentialsIn(await fetch(name), { name, realm: blueprint.intent.uid });
}

interface Wanted {
  readonly secret: string;
  /** What the original calls the files. */
  readonly names: CertificateNames;
  readonly hosts: readonly Host[];
  /** `among-equals`: members show it to each other. `ours`: the operator itself enters with it. */
  readonly use: 'among-equals' | 'serving' | 'ours';
}

function wantedBy({ blueprint, operatorSecret, managedCertificates }: ReadCluster): Each<Wanted | undefined> {
  const { intent, naming, template } = blueprint;
  const { peerTLS, clientTLS } = managedCertificates === undefined ? template : {};
  const service = `${naming.peerService}.${intent.namespace}.svc`;
  const isLookedUp = looksUpPeers(intent.version) && intent.size > 1;
  const peerHosts = [dialledHost(`${service}${naming.domain}`), ...(isLookedUp ? [lookedUpHost(service)] : [])];
  return {
    peer: peerTLS && { secret: peerTLS.secret, names: peerTLS, hosts: peerHosts, use: 'among-equals' },
    server: clientTLS && { secret: clientTLS.secret, names: clientTLS, hosts: [dialledHost(service)], use: 'serving' },
    operator: operatorSecret && { secret: operatorSecret.name, names: operatorSecret, hosts: [], use: 'ours' },
  };
}

interface Judged {
  readonly problem?: string | undefined;
  readonly unread?: string;
  readonly secret?: SecretContent;
  /** The keys of the files, where they are there. */
  readonly names?: CertificateNames;
  readonly identity?: { readonly tls: Required<Omit<TlsIdentity, 'serverName'>> };
}

function judge(fetched: Fetched | Unread, { secret, names: original, hosts, use }: Wanted, now: Date): Judged {
  if (fetched === 'missing') return { problem: missingSecret(secret, original) };
  if (fetched === 'hidden') return use === 'ours' ? { problem: hiddenSecret(secret) } : {};
  if (isUnread(fetched)) return { problem: fetched.unread, unread: fetched.unread };
  const names = namesIn(fetched.data, original);
  const flaw = flawIn(fetched, names);
  if (flaw !== undefined) return { problem: flaw };
  const text = (file: string): string => textOf(fetched.data[file]);
  const tls = { ca: text(names.authority), cert: text(names.certificate), key: text(names.key) };
  return {
    problem: doubtAbout(fetched, names, { now, hosts, isAmongEquals: use === 'among-equals' }),
    secret: fetched,
    names,
    identity: { tls },
  };
}
