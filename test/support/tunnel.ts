import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { type Access, fromKubeconfig } from '../../src/kube/config.ts';

/** A way to the API server that can be broken. */
export interface Tunnel {
  /** The same access as the kubeconfig's, through the tunnel. */
  readonly access: Access;
  /** How many connections there have been. */
  readonly opened: () => number;
  /** How many pieces the server has sent over all of them. */
  readonly received: () => number;
  /** From now on nothing arrives over today's connections, and neither end is told: a lost node, a firewall. */
  readonly cut: () => void;
  /** Both ends are told at once. */
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
    for (const socket of [near, far]) socket.on('error', () => {}); // that is what this is for
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
