import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { podsOf, type Within } from './api.ts';
import { socketTo } from './member-endpoints.ts';
import { until } from './until.ts';

/** The serial number of the certificate that a server in a pod presents. */
async function serialAt({ namespace, name, host }: PodAt, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const plain = await socketTo({ namespace, name }, { host, port }, AbortSignal.timeout(timeoutMillis));
  const socket = connect({ socket: plain, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });
  socket.setTimeout(timeoutMillis, () => socket.destroy(new Error(`no handshake with ${name}:${port}`)));
  socket.once('error', reject);
  return promise;
}

interface PodAt {
  readonly namespace: string;
  readonly name: string;
  readonly host: string;
}

const timeoutMillis = 2_000;

/** Waits until every member of `db` serves these certificates. */
export async function certificatesServed(
  within: Within,
  certificates: { peer: string; server: string },
): Promise<void> {
  const wanted = [
    { port: 2379, serial: new X509Certificate(certificates.server).serialNumber },
    { port: 2380, serial: new X509Certificate(certificates.peer).serialNumber },
  ];
  for (const { metadata, status } of await podsOf(within, 'etcd_cluster=db')) {
    const [namespace, name, host] = [within.namespace, metadata.name, status?.podIP ?? ''];
    for (const { port, serial } of wanted)
      await until(
        `the new certificate at ${name}:${port}`,
        async () => (await serialAt({ namespace, name, host }, port)) === serial || undefined,
        { seconds: 150 },
      );
  }
}

/** The UIDs and restart counts of the pods of `db`: changes if a pod is recreated or a container restarts. */
export const podUidsAndRestarts = async (within: Within, label = 'etcd_cluster=db'): Promise<string> =>
  (await podsOf(within, label))
    .map(({ metadata, status }) => [
      metadata.uid,
      ...(status?.containerStatuses ?? []).map((each) => each.restartCount),
    ])
    .join(' ');
