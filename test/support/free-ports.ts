import { createServer } from 'node:net';

/** Below the ephemeral port range, so that the kernel gives none of these ports to another process. */
const [first, count] = [10_000, 20_000];
const start = Math.floor(Math.random() * count);
let asked = 0;

/** Unused ports, each returned only once, also to test files in other processes: a port is claimed until this process ends. */
export async function freePorts(wanted: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < wanted) {
    const port = first + ((start + asked++) % count);
    if ((await claim(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** An abstract socket, which the kernel removes with its process. A port itself cannot be held until its server listens. */
function claim(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  createServer()
    .once('error', () => resolve(false))
    .listen(`\0etcd-operator-test-port-${port}`, () => resolve(true))
    .unref();
  return promise;
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer()
    .once('error', () => resolve(false))
    .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return promise;
}
