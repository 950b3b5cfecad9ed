import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from '../../src/kube/config.ts';
import { connectTo } from '../../src/kube/connection.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import { whenAborted } from '../../src/std/when-aborted.ts';
import { type ApiServer, startApiServer } from '../apiserver/start.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { NodeStreams } from '../streams.ts';
import { secureStateDirectory } from './state-directory.ts';

const host = '127.0.0.1';
/** The DNS names by which pods reach the API server. */
const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
const addresses = ['10.96.0.1'];

/** The lab's own API server, with its data in the state directory. */
export async function ownControlPlane(state: string, print: (line: string) => void): Promise<ControlPlane> {
  secureStateDirectory(state);
  let nodeStreams: ((nodeName: string) => NodeStreams | undefined) | undefined;
  const directory = join(state, 'apiserver');
  const before = portOf(state);
  const server = await startApiServer({
    directory,
    names,
    addresses,
    listen: { host, port: before },
    streamsOf: (nodeName) => nodeStreams?.(nodeName),
  });
  if (before !== 0 && before !== server.port)
    print(`Port ${before} is taken: the API server now listens on ${server.port}, and the kubeconfig is updated.`);
  writeFileSync(portFile(state), String(server.port), { mode: 0o600 });
  const kubeconfig = join(state, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
  const connection = connectTo(accessTo(server), { userAgent: 'etcd-operator-lab' });
  return {
    kubeconfig,
    client: new HttpKubeClient(connection, { fieldManager: 'etcd-operator-lab' }),
    api: { host, port: server.port },
    setNodeStreams: (streamsOf) => {
      nodeStreams = streamsOf;
    },
    run: async (signal) => {
      await whenAborted(signal);
      await connection.close();
      await server.close();
    },
  };
}

/** The content of the kubeconfig, without the large library that parses it. */
const accessTo = ({ url, ca, admin }: ApiServer): Access => ({
  url: new URL(url),
  namespace: undefined,
  tls: async () => ({ ca, cert: admin.certificate, key: admin.key }),
  headers: async () => ({}),
});

const portFile = (state: string): string => join(state, 'port');

/** The port of the last run, so that an exported kubeconfig stays valid. */
const portOf = (state: string): number =>
  existsSync(portFile(state)) ? Number(readFileSync(portFile(state), 'utf8')) : 0;
