import { type Endpoint, endpointLabel } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';
import { type MemberSession, type OpenSession, openSession, type SessionSettings } from './session.ts';

/**
 * The connection to one member: one session at a time, replaced once it is retired. A session with an unanswered call
 * may be dead, above all in its TLS handshake, which has no time-out. The session gets no new calls, but its open calls
 * may still succeed: one slow answer does not abort a snapshot.
 */
export class MemberConnection {
  readonly endpoint: Endpoint;
  readonly #open: () => MemberSession;
  /** The last session is current; the others still have open calls. */
  #sessions: readonly MemberSession[] = [];
  #closed = false;

  constructor(endpoint: Endpoint, settings: SessionSettings, open: OpenSession = openSession) {
    this.endpoint = endpoint;
    this.#open = () => open(endpoint, settings);
  }

  /** The session for a new call. */
  session(): MemberSession {
    if (this.#closed) {
      const message = `the connection to ${endpointLabel(this.endpoint)} was closed by the operator`;
      throw new EtcdFailure('unreachable', message, { mayBeDone: false });
    }
    const current = this.#sessions.at(-1);
    if (current?.isRetired === false) return current;
    const next = this.#open();
    this.#sessions = [...this.#sessions.filter(({ isFinished }) => !isFinished), next];
    return next;
  }

  /** Closes the connection after its open calls. A later call opens a new one. */
  closeWhenIdle(): void {
    this.#sessions.at(-1)?.retire();
  }

  /** Ends every call and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.abort();
    this.#sessions = [];
  }
}
