import { type ManifestPart, type MemberTemplate, ports } from '../cluster/model/template.ts';

/**
 * The process listens on the peer port. A stricter probe would be harmful: a restart does not help a member without
 * quorum, with a full volume, or busy with its log. The probe works with every version of etcd.
 */
export const livenessProbe: ManifestPart = {
  tcpSocket: { port: ports.peer },
  initialDelaySeconds: 10,
  timeoutSeconds: 10,
  periodSeconds: 60,
  failureThreshold: 3,
};

/**
 * etcd serves clients, by its `/health` endpoint. If clients need a certificate, the kubelet cannot connect, and an
 * open port counts as ready. A member with a used-up quota stays ready: clients must be able to compact and delete, and
 * a larger quota must be rolled out. There is no initial delay: the kubelet would add a whole period to it.
 */
export const readinessProbe = (template: MemberTemplate): ManifestPart => ({
  ...asksWhetherClientsAreServed(template),
  timeoutSeconds: 5,
  periodSeconds: 5,
  failureThreshold: 3,
});

/**
 * Probes every second until the first success, so that a member counts as ready without a delay of up to five seconds.
 * The kubelet kills a container that exceeds the failure threshold. A member that waits for quorum must not be killed,
 * so the threshold amounts to weeks.
 */
export const startupProbe = (template: MemberTemplate): ManifestPart => ({
  ...asksWhetherClientsAreServed(template),
  timeoutSeconds: 5,
  periodSeconds: 1,
  failureThreshold: 2_000_000,
});

const asksWhetherClientsAreServed = ({ clientTLS, clientsServed }: MemberTemplate): ManifestPart =>
  clientTLS === undefined || clientsServed === 'either-way'
    ? { httpGet: { path: '/health?exclude=NOSPACE', port: ports.client } }
    : { tcpSocket: { port: ports.client } };
