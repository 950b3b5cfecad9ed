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
 * Picks, of the members that answer and are not corrupt, a voter that knows a leader, and of those the one that has seen most. A
 * dead member spoils nothing.
 */
export async function openSource(settings: SourceSettings, signal: AbortSignal): Promise<Source> {
  const asked = await Promise.allSettled((await endpointsOf(settings)).map((endpoint) => ask(endpoint, signal)));
  const answers = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  let best: Answer | undefined;
  try {
    assertOneCluster(answers);
    const { sound, warnings } = await withoutCorrupt(answers, signal);
    [best] = sound.toSorted((a, b) => preference(b.status, a.status));
    if (best === undefined) throw noneAnswers(asked);
    const { etcd, status } = best;
    return { etcd, status, warnings: [...doubtsAbout(status), ...warnings], [Symbol.dispose]: () => etcd.close() };
  } finally {
    for (const { etcd } of answers.filter((answer) => answer !== best)) etcd.close();
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

const preference = (a: MemberStatus, b: MemberStatus): number =>
  Number(b.isLearner) - Number(a.isLearner) ||
  Number(knowsLeader(a)) - Number(knowsLeader(b)) ||
  Number(a.revision - b.revision);

/** Whoever knows none is cut off from the others, and may have missed what they have written. */
const knowsLeader = ({ leader }: MemberStatus): boolean => leader !== 0n;

const doubtsAbout = (status: MemberStatus): readonly string[] =>
  knowsLeader(status)
    ? []
    : ['no member that answered knew a leader: writes that members out of reach have acknowledged may be missing'];

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
