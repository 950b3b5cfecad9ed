import { once } from 'node:events';
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import type { Identity } from '../../lab/pki.ts';
import { Auth, Cluster, KV, Maintenance, Watch } from '../../src/etcd/gen/etcd_pb.ts';

/** The implemented methods. Other methods are unimplemented, as in an old version. */
export interface FakeAnswers {
  readonly auth?: Partial<ServiceImpl<typeof Auth>>;
  readonly cluster?: Partial<ServiceImpl<typeof Cluster>>;
  readonly kv?: Partial<ServiceImpl<typeof KV>>;
  readonly maintenance?: Partial<ServiceImpl<typeof Maintenance>>;
  readonly watch?: Partial<ServiceImpl<typeof Watch>>;
}

/** A gRPC server in this process with the etcd API and the answers of the test, even wrong ones. */
export interface FakeEtcd extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The number of connections so far, including closed ones. */
  readonly connections: () => number;
  readonly openConnections: () => number;
  readonly pings: () => number;
}

export async function startFakeEtcd(answers: FakeAnswers, identity?: Identity): Promise<FakeEtcd> {
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(Auth, answers.auth ?? {});
      router.service(Cluster, answers.cluster ?? {});
      router.service(KV, answers.kv ?? {});
      router.service(Maintenance, answers.maintenance ?? {});
      router.service(Watch, answers.watch ?? {});
    },
  });
  const server: Http2Server =
    identity === undefined
      ? createServer(handler)
      : createSecureServer({ cert: identity.certificate, key: identity.key }, handler);
  const seen = countConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    connections: () => seen.connections,
    openConnections: () => seen.open.size,
    pings: () => seen.pings,
    [Symbol.asyncDispose]: async () => {
      for (const session of seen.open) session.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

function countConnections(server: Http2Server): { connections: number; pings: number; open: Set<ServerHttp2Session> } {
  const seen = { connections: 0, pings: 0, open: new Set<ServerHttp2Session>() };
  server.on('session', (session) => {
    seen.connections++;
    seen.open.add(session);
    session.on('ping', () => seen.pings++);
    session.on('error', () => {}); // tests close connections in the middle of a request
    session.once('close', () => seen.open.delete(session));
  });
  return seen;
}

/** Never answers; rejects when the client disconnects. */
export const never = (_request: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the client disconnected')));
  });
