import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  AlarmResponseSchema,
  HashKVResponseSchema,
  MemberAddRequestSchema,
  MemberAddResponseSchema,
  MemberPromoteRequestSchema,
  MemberRemoveRequestSchema,
  MoveLeaderRequestSchema,
} from '../../src/etcd/gen/etcd_pb.ts';
import type { StandInCluster } from './etcd-cluster.ts';

/** The member behind an address. */
export interface MemberAt {
  readonly cluster: StandInCluster;
  readonly id: bigint;
}

interface Asked extends MemberAt {
  readonly request: Uint8Array;
}

const clientPort = 2379;
const unimplemented = '12';

/** An answer without fields. */
const empty = new Uint8Array(0);

/** The answer of each method that the operator calls. */
const methods: Readonly<Record<string, (asked: Asked) => Uint8Array>> = {
  Status: ({ cluster, id }) => cluster.status(id),
  MemberList: ({ cluster, id }) => cluster.memberList(id),
  Range: ({ cluster, id }) => cluster.range(id),
  MemberAdd: ({ cluster, id, request }) => {
    const { peerUrls, isLearner } = fromBinary(MemberAddRequestSchema, request);
    const member = cluster.add(peerUrls[0] ?? '', isLearner);
    return toBinary(MemberAddResponseSchema, create(MemberAddResponseSchema, { header: cluster.headerOf(id), member }));
  },
  MemberRemove: ({ cluster, request }) => {
    cluster.remove(fromBinary(MemberRemoveRequestSchema, request).id);
    return empty;
  },
  MemberPromote: ({ cluster, request }) => {
    cluster.promote(fromBinary(MemberPromoteRequestSchema, request).id);
    return empty;
  },
  MoveLeader: ({ cluster, request }) => {
    cluster.moveLeader(fromBinary(MoveLeaderRequestSchema, request).targetId);
    return empty;
  },
  Alarm: ({ cluster, id }) =>
    toBinary(AlarmResponseSchema, create(AlarmResponseSchema, { header: cluster.headerOf(id) })),
  HashKV: ({ cluster, id }) =>
    toBinary(HashKVResponseSchema, create(HashKVResponseSchema, { header: cluster.headerOf(id), hash: 1 })),
};

/** One gRPC server that answers for every member of every stand-in cluster, by the address that was dialled. */
export class StandInEtcd implements AsyncDisposable {
  readonly #server: Http2Server = createServer();
  readonly #at = new Map<string, MemberAt>();
  readonly #asked = new Set<StandInCluster>();
  #calls = 0;
  #connections = 0;
  #mostConnections = 0;

  static async start(): Promise<StandInEtcd> {
    const etcd = new StandInEtcd();
    const server = etcd.#server;
    server.on('stream', (stream, { ':path': path = '' }) => etcd.#serve(stream, path.slice(path.lastIndexOf('/') + 1)));
    server.on('session', (session) => {
      etcd.#mostConnections = Math.max(etcd.#mostConnections, ++etcd.#connections);
      session.on('error', () => {});
      session.once('close', () => etcd.#connections--);
    });
    server.listen(clientPort, '0.0.0.0');
    await once(server, 'listening');
    return etcd;
  }

  get calls(): number {
    return this.#calls;
  }

  get connections(): number {
    return this.#connections;
  }

  get mostConnections(): number {
    return this.#mostConnections;
  }

  /** The clusters that were asked since the last `forgetAsked`. */
  get asked(): ReadonlySet<StandInCluster> {
    return this.#asked;
  }

  forgetAsked(): void {
    this.#asked.clear();
  }

  place(address: string, member: MemberAt): void {
    this.#at.set(address, member);
  }

  leave(address: string): void {
    this.#at.delete(address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }

  #serve(stream: ServerHttp2Stream, method: string): void {
    this.#calls++;
    const at = this.#at.get(stream.session?.socket.localAddress ?? '');
    stream.on('error', () => {});
    if (at === undefined) return stream.session?.destroy();
    this.#asked.add(at.cluster);
    if (at.cluster.isBlackHole) return;
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.once('end', () => answer(stream, methods[method], { ...at, request: Buffer.concat(parts).subarray(5) }));
  }
}

function answer(stream: ServerHttp2Stream, method: ((asked: Asked) => Uint8Array) | undefined, asked: Asked): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc' };
  if (method === undefined) return stream.respond({ ...headers, 'grpc-status': unimplemented }, { endStream: true });
  const message = method(asked);
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  stream.respond(headers, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame);
}
