import { request } from 'node:http';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';

/** Connects to an address inside the lab. */
export type Dial = (host: string, port: number) => Promise<Socket>;

/** The same question had other names in 3.3 and before. */
const paths = ['/v3/maintenance/status', '/v3beta/maintenance/status', '/v3alpha/maintenance/status'];
const millis = 2000;

/** The revision that a member of etcd has come to; `undefined` where it does not say, such as over TLS. */
export async function revisionAt(host: string, dial: Dial): Promise<string | undefined> {
  for (const path of paths) {
    const revision = await ask(path, await dial(host, 2379)).catch(() => undefined);
    if (revision !== undefined) return revision;
  }
  return undefined;
}

async function ask(path: string, socket: Socket): Promise<string | undefined> {
  try {
    const answer = await new Promise<unknown>((resolve, reject) => {
      const asking = request({ path, method: 'POST', createConnection: () => socket, timeout: millis }, (response) => {
        json(response).then(resolve, reject);
      });
      asking.once('error', reject).once('timeout', () => asking.destroy());
      asking.end('{}');
    });
    return (answer as { readonly header?: { readonly revision?: string } }).header?.revision;
  } finally {
    socket.destroy();
  }
}
