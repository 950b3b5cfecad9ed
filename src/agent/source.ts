import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectionTo, type EtcdConnection } from '../etcd/client.ts';
import type { Credentials, Endpoint, TlsIdentity } from '../etcd/endpoint.ts';
import { hexOf, type MemberStatus } from '../etcd/types.ts';
import { Failure } from '../std/failure.ts';
import { type Answer, withoutCorrupt } from './corrupt-members.ts';
import { AgentFailure } from './result.ts';

export interface SourceSettings {
  readonly endpoints: readonly string[];
  /** Mount directory of a Secret with certificates, under the key names of either API. */
  readonly tls?: string | undefined;
  /** Mount directory of a Secret with `username` and `password`. */
  readonly user?: string | undefined;
}

/** The member that a snapshot is taken from. */
export interface Source extends Disposable {
  readonly etcd: EtcdConnection;
  readonly status: MemberStatus;
  /** Warnings about the completeness of the snapshot. */
  readonly warnings: readonly string[];
}

/**
 * Picks the member to take the snapshot from. Members that do not answer or are corrupt are left out. A member with all
 * acknowledged writes is preferred, then a voter, then a member with a leader, then the highest revision.
 */
export async function openSource(settings: SourceSettings, signal: AbortSignal): Promise<Source> {
  const asked = await Promise.allSettled((await endpointsOf(settings)).map((endpoint) => ask(endpoint, signal)));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  let chosen: EtcdConnection | undefined;
  try {
    assertOneCluster(answers);
    const { sound, warnings } = await withoutCorrupt(answers, signal);
    const [best] = (await candidatesOf(sound, signal)).toSorted((a, b) => preference(b, a));
    if (best === undefined) throw noAnswer(asked);
    const { etcd, status } = best;
    chosen = etcd;
    return { etcd, status, warnings: [...warningsAbout(best), ...warnings], [Symbol.dispose]: () => etcd.close() };
  } finally {
    for (const { etcd } of answers.filter((answer) => answer.etcd !== chosen)) etcd.close();
  }
}

interface Candidate extends Answer {
  /** Why the member could not confirm that it has all acknowledged writes; undefined if it has them. */
  readonly unconfirmed: string | undefined;
}

/** Longer than the timeout of etcd itself, so that the error comes from etcd. */
const readMillis = 10_000;

/** The time for the others once a voter has all acknowledged writes: a stalled member must not delay the backup. */
const graceMillis = 1_000;

async function candidatesOf(sound: readonly Answer[], signal: AbortSignal): Promise<readonly Candidate[]> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const candidates = sound.map(async (answer) => {
    const candidate = await caughtUp(answer, { signal, late: late.signal });
    if (isConfirmed(candidate) && !candidate.status.isLearner) timer ??= setTimeout(() => late.abort(), graceMillis);
    return candidate;
  });
  try {
    return await Promise.all(candidates);
  } finally {
    clearTimeout(timer);
  }
}

interface ReadSignals {
  readonly signal: AbortSignal;
  /** Aborts when the time for this member is over; the member then stays unconfirmed. */
  readonly late: AbortSignal;
}

/**
 * Waits until a member has applied all acknowledged writes. After a stalled node, the status of its member still shows
 * a leader and an old revision. The linearizable read returns when the member has reached the commit index of the
 * leader.
 */
async function caughtUp(answer: Answer, { signal: stop, late }: ReadSignals): Promise<Candidate> {
  const { etcd } = answer;
  const signal = AbortSignal.any([stop, late]);
  try {
    await etcd.linearizableRead({ signal, timeoutMillis: readMillis });
    return { ...answer, status: await etcd.status({ signal }), unconfirmed: undefined };
  } catch (thrown) {
    if (stop.aborted) throw thrown;
    return { ...answer, unconfirmed: Failure.from(thrown).message };
  }
}

async function ask(endpoint: Endpoint, signal: AbortSignal): Promise<Answer> {
  const etcd = connectionTo(endpoint);
  try {
    return { url: endpoint.url, etcd, status: await etcd.status({ signal }) };
  } catch (thrown) {
    etcd.close();
    throw thrown;
  }
}

const preference = (a: Candidate, b: Candidate): number =>
  Number(isConfirmed(a)) - Number(isConfirmed(b)) ||
  Number(b.status.isLearner) - Number(a.status.isLearner) ||
  Number(hasLeader(a.status)) - Number(hasLeader(b.status)) ||
  Number(a.status.revision - b.status.revision);

const isConfirmed = ({ unconfirmed }: Candidate): boolean => unconfirmed === undefined;

/** A member without a leader is cut off from the others and may lack their writes. */
const hasLeader = ({ leader }: MemberStatus): boolean => leader !== 0n;

const mayBeMissing = 'writes acknowledged by unreachable members may be missing';

function warningsAbout({ status, unconfirmed }: Candidate): readonly string[] {
  if (unconfirmed === undefined) return [];
  return hasLeader(status)
    ? [`no member that answered could confirm its data with a quorum: ${mayBeMissing} (${unconfirmed})`]
    : [`no member that answered has a leader: ${mayBeMissing}`];
}

/** Fails if the endpoints belong to several clusters: revisions of different clusters cannot be compared. */
function assertOneCluster(answers: readonly Answer[]): void {
  if (new Set(answers.map(({ status }) => status.clusterId)).size <= 1) return;
  const members = answers.map(({ url, status }) => `${url} belongs to cluster ${hexOf(status.clusterId)}`).join(', ');
  throw new AgentFailure(
    'bad-input',
    `the endpoints belong to different clusters: ${members}: name endpoints of one cluster only`,
  );
}

function noAnswer(asked: readonly PromiseSettledResult<unknown>[]): Failure {
  const reasons = asked.flatMap((answer) => (answer.status === 'rejected' ? [Failure.from(answer.reason)] : []));
  const kind = reasons.find((reason) => reason.kind !== 'unreachable')?.kind ?? 'unreachable';
  const messages = reasons.map(({ message }) => message).join('; ');
  return new AgentFailure('etcd', `no member answered: ${messages}`, { kind, cause: reasons[0] });
}

async function endpointsOf({ endpoints, tls, user }: SourceSettings): Promise<readonly Endpoint[]> {
  const identity = tls === undefined ? {} : { tls: await tlsIn(tls) };
  const credentials = user === undefined ? {} : { credentials: await userIn(user) };
  return endpoints.map((url) => ({ url, ...identity, ...credentials }));
}

/** The key names of the coreos API, and those of Kubernetes TLS Secrets. */
const tlsNames = [
  { ca: 'etcd-client-ca.crt', cert: 'etcd-client.crt', key: 'etcd-client.key' },
  { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' },
] as const;

async function tlsIn(directory: string): Promise<TlsIdentity> {
  const read = (name: string): Promise<string | undefined> =>
    readFile(join(directory, name), 'utf8').catch(() => undefined);
  for (const names of tlsNames) {
    const [ca, cert, key] = await Promise.all([read(names.ca), read(names.cert), read(names.key)]);
    if (ca !== undefined) return { ca, ...(cert === undefined || key === undefined ? {} : { cert, key }) };
  }
  const known = tlsNames.map(({ ca, cert, key }) => `${ca}, ${cert}, ${key}`).join(' or ');
  throw new AgentFailure('bad-input', `the Secret for TLS to etcd has none of the expected keys: ${known}`);
}

async function userIn(directory: string): Promise<Credentials> {
  const read = async (name: string): Promise<string> => (await readFile(join(directory, name), 'utf8')).trimEnd();
  try {
    return { user: await read('username'), password: await read('password') };
  } catch (error) {
    const message = 'the Secret with the user of etcd needs the keys username and password';
    throw new AgentFailure('bad-input', message, { cause: error });
  }
}
