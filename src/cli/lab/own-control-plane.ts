import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from '../../kube/config.ts';
import { connectTo } from '../../kube/connection.ts';
import { HttpKubeClient } from '../../kube/http-client.ts';
import { type ApiServer, startApiServer } from '../../lab/apiserver/start.ts';
import type { ControlPlane } from '../../lab/control-plane.ts';
import type { NodeStreams } from '../../lab/streams.ts';
import { whenAborted } from '../../std/when-aborted.ts';
import { ownDirectory } from './own-directory.ts';

const host = '127.0.0.1';
/** How pods know it. */
const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
const addresses = ['10.96.0.1'];

/** The lab's own API server, which keeps everything below the state directory. */
export async function ownControlPlane(state: string, say: (line: string) => void): Promise<ControlPlane> {
  ownDirectory(state);
  let ways: ((nodeName: string) => NodeStreams | undefined) | undefined;
  const directory = join(state, 'apiserver');
  const before = portOf(state);
  const server = await startApiServer({
    ...{ directory, names, addresses, listen: { host, port: before } },
    streamsOf: (nodeName) => ways?.(nodeName),
  });
  if (before !== 0 && before !== server.port)
    say(
      `Somebody else has port ${before} now: the API server has moved to ${server.port}, and the kubeconfig with it.`,
    );
  writeFileSync(portFile(state), String(server.port), { mode: 0o600 });
  const kubeconfig = join(state, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
  const connection = connectTo(accessTo(server), { userAgent: 'etcd-operator-lab' });
  return {
    kubeconfig,
    client: new HttpKubeClient(connection, { fieldManager: 'etcd-operator-lab' }),
    api: { host, port: server.port },
    reach: (streamsOf) => {
      ways = streamsOf;
    },
    run: async (signal) => {
      await whenAborted(signal);
      await connection.close();
      await server.close();
    },
  };
}

/** What the kubeconfig says, without the large library that reads one. */
const accessTo = ({ url, ca, admin }: ApiServer): Access => ({
  url: new URL(url),
  namespace: undefined,
  tls: async () => ({ ca, cert: admin.certificate, key: admin.key }),
  headers: async () => ({}),
});

const portFile = (state: string): string => join(state, 'port');

/** The same as last time, so that what somebody has exported still leads here. */
const portOf = (state: string): number =>
  existsSync(portFile(state)) ? Number(readFileSync(portFile(state), 'utf8')) : 0;
