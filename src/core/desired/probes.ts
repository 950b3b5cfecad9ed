import { type MemberTemplate, type Passed, ports } from '../model/template.ts';

/**
 * Alive means that the process listens. More must not be asked: a member without a majority, or with a full disk, or busy
 * reading its log, is not helped by being killed. Every version of etcd answers to this, so it never has to change.
 */
export const livenessProbe: Passed = {
  tcpSocket: { port: ports.peer },
  initialDelaySeconds: 10,
  timeoutSeconds: 10,
  periodSeconds: 60,
  failureThreshold: 3,
};

/**
 * Ready means that clients are served. etcd says so at `/health`, but only to those who may connect at all: where clients
 * need a certificate, which the kubelet has not, listening must be enough. An etcd whose quota is used up still reads,
 * compacts and deletes; were it not ready, clients could not make room, nor could a larger quota be carried to members.
 * It is asked as soon as the startup probe has been answered: a kubelet that is told to delay that asks a whole period later.
 */
export const readinessProbe = (template: MemberTemplate): Passed => ({
  ...asksWhetherClientsAreServed(template),
  timeoutSeconds: 5,
  periodSeconds: 5,
  failureThreshold: 3,
});

/**
 * The first answer is asked for every second, so that a member counts as ready when it is, and not up to five seconds
 * later; after that, so many questions would be a burden. A kubelet kills whoever fails this too often, and a member that
 * waits for its majority must never be killed for it: hence a limit of weeks.
 */
export const startupProbe = (template: MemberTemplate): Passed => ({
  ...asksWhetherClientsAreServed(template),
  timeoutSeconds: 5,
  periodSeconds: 1,
  failureThreshold: 2_000_000,
});

const asksWhetherClientsAreServed = ({ clientTLS, clientsServed }: MemberTemplate): Passed =>
  clientTLS === undefined || clientsServed === 'either-way'
    ? { httpGet: { path: '/health?exclude=NOSPACE', port: ports.client } }
    : { tcpSocket: { port: ports.client } };
