import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import type { Kubectl } from './kubectl.ts';
import { until } from './until.ts';

/** The serial number of the certificate that a server shows. */
function serialAt(host: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host, port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });
  socket.setTimeout(2_000, () => socket.destroy(new Error(`no handshake with ${host}:${port}`)));
  socket.once('error', reject);
  return promise;
}

/** Waits until every member of `db` shows these certificates. */
export async function showing(kubectl: Kubectl, certificates: { peer: string; server: string }): Promise<void> {
  const hosts = (await kubectl('get pods -l etcd_cluster=db -o jsonpath={.items[*].status.podIP}')).split(' ');
  const wanted = [
    { port: 2379, serial: new X509Certificate(certificates.server).serialNumber },
    { port: 2380, serial: new X509Certificate(certificates.peer).serialNumber },
  ];
  for (const host of hosts)
    for (const { port, serial } of wanted)
      await until(
        `the new certificate at ${host}:${port}`,
        async () => (await serialAt(host, port)) === serial || undefined,
        { seconds: 150 },
      );
}

/** Changes when a pod of `db` is made again, or a container in it starts again. */
export const bodiesOf = (kubectl: Kubectl): Promise<string> =>
  kubectl(
    'get pods -l etcd_cluster=db -o jsonpath={.items[*].metadata.uid}{.items[*].status.containerStatuses[*].restartCount}',
  );
