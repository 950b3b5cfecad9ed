import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, type Identity, makeAuthority } from '../../lab/pki.ts';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from '../../src/etcd/client.ts';
import type { Endpoint, TlsIdentity } from '../../src/etcd/endpoint.ts';
import type { MemberStatus } from '../../src/etcd/types.ts';
import { Failure } from '../../src/std/failure.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { EtcdProcess } from './etcd-process.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

export interface EtcdClusterSettings {
  readonly version: EtcdVersion;
  /** The number of members; one by default. */
  readonly size?: number;
  /** Mutual TLS for clients and peers. */
  readonly tls?: boolean;
  readonly flags?: readonly string[];
}

/**
 * Starts a cluster of real etcd processes on 127.0.0.1, and waits until all members follow one leader:
 *
 *   await using cluster = await startEtcd({ version: '3.6.16', size: 3 });
 *   const etcd = cluster.connect();
 *   await cluster.member(2).freeze();
 *   await etcd.linearizableRead();
 */
export async function startEtcd(settings: EtcdClusterSettings): Promise<EtcdCluster> {
  const authority = settings.tls === true ? await makeAuthority('etcd test') : undefined;
  const cluster = new EtcdCluster(settings, authority);
  try {
    const members = [];
    for (let count = settings.size ?? 1; count > 0; count--) members.push(await cluster.prepareMember());
    for (const member of members) member.start({ state: 'new', members });
    await cluster.settled();
  } catch (error) {
    const logs = cluster.members.map(({ name, log }) => `${name}:\n${log.slice(-3_000)}`);
    await cluster.stop();
    throw new Error(`the cluster did not start\n${logs.join('\n')}`, { cause: error });
  }
  return cluster;
}

export class EtcdCluster implements AsyncDisposable {
  /** In the order of `prepareMember`. */
  readonly members: EtcdProcess[] = [];
  readonly version: EtcdVersion;
  readonly authority: Authority | undefined;
  readonly directory: string = mkdtempSync(join(tmpdir(), 'etcd-'));
  readonly #flags: readonly string[];
  readonly #connections: EtcdConnection[] = [];

  constructor({ version, flags = [] }: EtcdClusterSettings, authority: Authority | undefined) {
    this.version = version;
    this.#flags = flags;
    this.authority = authority;
  }

  /** A member by its index in the order of `prepareMember`. */
  member(index: number): EtcdProcess {
    const member = this.members[index];
    if (member === undefined) throw new Error(`there is no member ${index}, only ${this.members.length}`);
    return member;
  }

  /** Opens a connection, by default to the first member. It is closed with the cluster. */
  connect(to: EtcdProcess | Endpoint = this.member(0), settings: Partial<ConnectionSettings> = {}): EtcdConnection {
    const connection = connectionTo(to instanceof EtcdProcess ? to.endpoint : to, settings);
    this.#connections.push(connection);
    return connection;
  }

  /** Gives a member its name, ports and certificates. The member is neither added nor started. */
  async prepareMember(): Promise<EtcdProcess> {
    const name = `m${this.members.length}`;
    const [client = 0, peer = 0] = await freePorts(2);
    const scheme = this.authority === undefined ? 'http' : 'https';
    const tls = this.authority === undefined ? {} : { tls: await this.clientIdentity(name) };
    const member = new EtcdProcess({
      name,
      version: this.version,
      directory: this.directory,
      endpoint: { url: `${scheme}://127.0.0.1:${client}`, ...tls },
      peerURL: `${scheme}://127.0.0.1:${peer}`,
      flags: [...this.#flags, ...(await this.#tlsFlags(name))],
    });
    this.members.push(member);
    return member;
  }

  /** Adds a member, starts it, and waits until it answers. */
  async join(member: EtcdProcess, { learner }: { readonly learner: boolean }): Promise<bigint> {
    const added = await this.retry(`${member.name} is added`, (etcd) => etcd.memberAdd([member.peerURL], { learner }));
    this.startAdded(member);
    await this.answering(member);
    return added.id;
  }

  /** Starts a member that was added to the cluster before. */
  startAdded(member: EtcdProcess): void {
    member.start({ state: 'existing', members: this.members });
  }

  /** Retries a request to the first member: after a membership change etcd requires all members connected for 5 s. */
  async retry<T>(what: string, ask: (etcd: EtcdConnection) => Promise<T>): Promise<T> {
    const etcd = this.connect();
    return (await until(what, async () => ({ answer: await ask(etcd) }))).answer;
  }

  /** Removes a member. A repeated request may find it removed by a request without an answer. */
  async remove(id: bigint): Promise<void> {
    const isMissing = (thrown: unknown): boolean => Failure.from(thrown).kind === 'not-found';
    await this.retry('the member is removed', (etcd) =>
      etcd.memberRemove(id).catch((thrown: unknown) => {
        if (!isMissing(thrown)) throw thrown;
      }),
    );
  }

  /** Waits until a member answers and follows a leader. */
  answering(member: EtcdProcess): Promise<MemberStatus> {
    const etcd = this.connect(member);
    return until(`${member.name} follows a leader`, async () => {
      const status = await etcd.status({ timeoutMillis: 1_000 });
      return status.leader === 0n ? undefined : status;
    });
  }

  /** Waits until members (by default all) answer and follow one leader. */
  async settled(members: readonly EtcdProcess[] = this.members): Promise<void> {
    await until('the members follow one leader', async () => {
      const seen = await Promise.all(members.map((member) => this.answering(member)));
      return new Set(seen.map(({ leader }) => leader)).size === 1 ? seen : undefined;
    });
    await this.retry('a linearizable read', (etcd) => etcd.linearizableRead());
  }

  /** The members, the leader first. */
  async leaderFirst(): Promise<readonly EtcdProcess[]> {
    const seen = await Promise.all(this.members.map(async (member) => ({ member, ...(await this.answering(member)) })));
    return seen
      .toSorted((a, b) => Number(b.leader === b.memberId) - Number(a.leader === a.memberId))
      .map(({ member }) => member);
  }

  /** The output of etcdctl. */
  etcdctl(...args: readonly string[]): Promise<string> {
    const endpoint = `--endpoints=${this.member(0).endpoint.url}`;
    return run(etcdProgram(this.version, 'etcdctl'), [endpoint, ...args], { env: { ETCDCTL_API: '3' } });
  }

  /** The client certificate and CA for a member. Certificates of members have DNS names only, as in Pods. */
  async clientIdentity(serverName: string): Promise<TlsIdentity> {
    if (this.authority === undefined) throw new Error('this cluster has no certificates');
    const { certificate, key } = await this.authority.issue({ commonName: 'client' });
    return { ca: this.authority.certificate, cert: certificate, key, serverName: `${serverName}.etcd.test` };
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await Promise.all(this.members.map((member) => member.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #tlsFlags(name: string): Promise<readonly string[]> {
    if (this.authority === undefined) return [];
    const file = (ending: string): string => join(this.directory, `${name}-${ending}`);
    writeFileSync(file('ca.crt'), this.authority.certificate);
    const write = (prefix: string, { certificate, key }: Identity): readonly string[] => {
      writeFileSync(file(`${prefix}server.crt`), certificate);
      writeFileSync(file(`${prefix}server.key`), key);
      const files = { 'cert-file': 'server.crt', 'key-file': 'server.key' };
      return [
        ...Object.entries(files).map(([flag, ending]) => `--${prefix}${flag}=${file(`${prefix}${ending}`)}`),
        `--${prefix}trusted-ca-file=${file('ca.crt')}`,
        `--${prefix}client-cert-auth`,
      ];
    };
    const server = await this.authority.issue({ commonName: name, dns: [`${name}.etcd.test`] });
    const peer = await this.authority.issue({ commonName: name, addresses: ['127.0.0.1'] });
    return [...write('', server), ...write('peer-', peer)];
  }
}
