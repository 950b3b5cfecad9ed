import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectionTo, type EtcdConnection } from '../etcd/client.ts';
import type { Credentials, Endpoint, TlsIdentity } from '../etcd/endpoint.ts';
import { hexOf, type MemberStatus } from '../etcd/words.ts';
import { Failure } from '../std/failure.ts';
import { type Answer, withoutCorrupt } from './corrupt-members.ts';
import { AgentFailure } from './result.ts';

export interface SourceSettings {
  readonly endpoints: readonly string[];
  /** A mounted Secret with certificates, under the names of either API. */
  readonly tls?: string | undefined;
  /** A mounted Secret with `username` and `password`. */
  readonly user?: string | undefined;
}

/** The member that a snapshot is taken from. */
export interface Source extends Disposable {
  readonly etcd: EtcdConnection;
  readonly status: MemberStatus;
  /** What is doubtful about it. */
  readonly warnings: readonly string[];
}

/**
 * Picks, of the members that answer and are not corrupt, one that has all acknowledged writes; where none can confirm that, a voter
 * that knows a leader, and of those the one with the highest revision. A dead member spoils nothing.
 */
export async function openSource(settings: SourceSettings, signal: AbortSignal): Promise<Source> {
  const asked = await Promise.allSettled((await endpointsOf(settings)).map((endpoint) => ask(endpoint, signal)));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  let chosen: EtcdConnection | undefined;
  try {
    assertOneCluster(answers);
    const { sound, warnings } = await withoutCorrupt(answers, signal);
    const [best] = (await candidatesOf(sound, signal)).toSorted((a, b) => preference(b, a));
    if (best === undefined) throw noneAnswers(asked);
    const { etcd, status } = best;
    chosen = etcd;
    return { etcd, status, warnings: [...doubtsAbout(best), ...warnings], [Symbol.dispose]: () => etcd.close() };
  } finally {
    for (const { etcd } of answers.filter((answer) => answer.etcd !== chosen)) etcd.close();
  }
}

interface Candidate extends Answer {
  /** Why it is not known whether the member has all acknowledged writes; undefined if it has them. */
  readonly unconfirmed: string | undefined;
}

/** Longer than etcd itself waits for a majority, so that the answer is etcd's. */
const readMillis = 10_000;

/** How long the other members may take once a voter has all acknowledged writes: a stalled member does not hold up the backup. */
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

interface Ends {
  readonly signal: AbortSignal;
  /** Aborts when the member is not waited for any longer. */
  readonly late: AbortSignal;
}

/**
 * Waits until a member has applied the writes that were acknowledged before. The status of a member whose node stalled shows a
 * leader and an old revision; the linearizable read ends when the member has reached the commit index of the leader.
 */
async function caughtUp(answer: Answer, { signal: stop, late }: Ends): Promise<Candidate> {
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
  Number(knowsLeader(a.status)) - Number(knowsLeader(b.status)) ||
  Number(a.status.revision - b.status.revision);

const isConfirmed = ({ unconfirmed }: Candidate): boolean => unconfirmed === undefined;

/** A member without a leader is cut off from the others, and may lack what they have written. */
const knowsLeader = ({ leader }: MemberStatus): boolean => leader !== 0n;

const mayBeMissing = 'writes that members out of reach have acknowledged may be missing';

function doubtsAbout({ status, unconfirmed }: Candidate): readonly string[] {
  if (unconfirmed === undefined) return [];
  return knowsLeader(status)
    ? [`no member that answered could confirm its data with a majority: ${mayBeMissing} (${unconfirmed})`]
    : [`no member that answered knew a leader: ${mayBeMissing}`];
}

/** Which of them is meant, nobody can tell: the larger revision says nothing across clusters. */
function assertOneCluster(answers: readonly Answer[]): void {
  if (new Set(answers.map(({ status }) => status.clusterId)).size <= 1) return;
  const those = answers.map(({ url, status }) => `${url} is of cluster ${hexOf(status.clusterId)}`).join(', ');
  throw new AgentFailure('bad-input', `the endpoints are not of one cluster: ${those}: name those of one cluster only`);
}

function noneAnswers(asked: readonly PromiseSettledResult<unknown>[]): Failure {
  const reasons = asked.flatMap((answer) => (answer.status === 'rejected' ? [Failure.from(answer.reason)] : []));
  const kind = reasons.find((reason) => reason.kind !== 'unreachable')?.kind ?? 'unreachable';
  const says = reasons.map(({ message }) => message).join('; ');
  return new AgentFailure('etcd', `no member gave an answer: ${says}`, { kind, cause: reasons[0] });
}

async function endpointsOf({ endpoints, tls, user }: SourceSettings): Promise<readonly Endpoint[]> {
  const identity = tls === undefined ? {} : { tls: await tlsIn(tls) };
  const credentials = user === undefined ? {} : { credentials: await userIn(user) };
  return endpoints.map((url) => ({ url, ...identity, ...credentials }));
}

/** The names that the coreos API asks for, and those that Kubernetes itself uses. */
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
  throw new AgentFailure('bad-input', `the Secret for TLS to etcd holds none of its keys: ${known}`);
}

async function userIn(directory: string): Promise<Credentials> {
  const read = async (name: string): Promise<string> => (await readFile(join(directory, name), 'utf8')).trimEnd();
  try {
    return { user: await read('username'), password: await read('password') };
  } catch (error) {
    const says = 'the Secret with the user of etcd needs the keys username and password';
    throw new AgentFailure('bad-input', says, { cause: error });
  }
}
