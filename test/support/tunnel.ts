import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';

/** A TCP proxy to the API server that tests can break. */
export interface Tunnel {
  /** The access of the kubeconfig, through the tunnel. */
  readonly access: Access;
  /** The number of connections so far. */
  readonly opened: () => number;
  /** The number of data chunks that the server has sent. */
  readonly received: () => number;
  /** Drops all data of the current connections without closing them, like a lost node or a firewall. */
  readonly cut: () => void;
  /** Resets all connections at both ends. */
  readonly reset: () => void;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export async function tunnelTo(kubeconfig: string): Promise<Tunnel> {
  const real = await fromKubeconfig(kubeconfig);
  const pairs: (readonly [Socket, Socket])[] = [];
  let received = 0;
  const server = createServer((near) => {
    const far = dial(Number(real.url.port || '443'), real.url.hostname);
    near.pipe(far).pipe(near);
    far.on('data', () => received++);
    for (const socket of [near, far]) socket.on('error', () => {}); // tests break connections
    pairs.push([near, far]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reset = (): void => pairs.flat().forEach((socket) => socket.resetAndDestroy());
  return {
    access: {
      ...real,
      url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
      tls: async () => ({ ...(await real.tls()), servername: 'kubernetes' }),
    },
    opened: () => pairs.length,
    received: () => received,
    cut: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far).resume();
        far.unpipe(near).resume();
      }
    },
    reset,
    [Symbol.asyncDispose]: async () => {
      reset();
      server.close();
      await once(server, 'close');
    },
  };
}
