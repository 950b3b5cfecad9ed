import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { podsOf, type Within } from './api.ts';
import { socketTo } from './member-endpoints.ts';
import { until } from './until.ts';

/** The serial number of the certificate that a server in a pod shows. */
async function serialAt({ namespace, name, host }: PodAt, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const plain = await socketTo({ namespace, name }, { host, port }, AbortSignal.timeout(patienceMillis));
  const socket = connect({ socket: plain, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().serialNumber);
    socket.destroy();
  });
  socket.setTimeout(patienceMillis, () => socket.destroy(new Error(`no handshake with ${name}:${port}`)));
  socket.once('error', reject);
  return promise;
}

interface PodAt {
  readonly namespace: string;
  readonly name: string;
  readonly host: string;
}

const patienceMillis = 2_000;

/** Waits until every member of `db` shows these certificates. */
export async function showing(within: Within, certificates: { peer: string; server: string }): Promise<void> {
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

/** Changes when a pod of `db` is made again, or a container in it starts again. */
export const bodiesOf = async (within: Within, label = 'etcd_cluster=db'): Promise<string> =>
  (await podsOf(within, label))
    .map(({ metadata, status }) => [
      metadata.uid,
      ...(status?.containerStatuses ?? []).map((each) => each.restartCount),
    ])
    .join(' ');
