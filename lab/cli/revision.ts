import { request } from 'node:http';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';

/** Opens a connection to an address inside the sandbox. */
export type Dial = (host: string, port: number) => Promise<Socket>;

/** The path of the status request; etcd 3.3 and earlier have other prefixes. */
const paths = ['/v3/maintenance/status', '/v3beta/maintenance/status', '/v3alpha/maintenance/status'];
const millis = 2000;

/** The revision of an etcd member; `undefined` if it cannot be read, for example because of TLS. */
export async function revisionAt(host: string, dial: Dial): Promise<string | undefined> {
  for (const path of paths) {
    const revision = await requestRevision(path, await dial(host, 2379)).catch(() => undefined);
    if (revision !== undefined) return revision;
  }
  return undefined;
}

async function requestRevision(path: string, socket: Socket): Promise<string | undefined> {
  try {
    const answer = await new Promise<unknown>((resolve, reject) => {
      const sent = request({ path, method: 'POST', createConnection: () => socket, timeout: millis }, (response) => {
        json(response).then(resolve, reject);
      });
      sent.once('error', reject).once('timeout', () => sent.destroy());
      sent.end('{}');
    });
    return (answer as { readonly header?: { readonly revision?: string } }).header?.revision;
  } finally {
    socket.destroy();
  }
}
