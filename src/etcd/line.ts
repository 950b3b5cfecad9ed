import { type Endpoint, placeOf } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';
import { Session, type SessionSettings } from './session.ts';

/**
 * The way to one member: one session at a time, replaced once it is over or suspect. A connection on which a call got no
 * answer may be dead without anybody knowing, in its TLS handshake above all, which has no time limit. It gets no new calls,
 * but those on it may still end well: a slow answer to one must not cost another its snapshot.
 */
export class Line {
  readonly endpoint: Endpoint;
  readonly #settings: SessionSettings;
  /** The last is the current one; the others have calls that are not over yet. */
  #sessions: readonly Session[] = [];
  #closed = false;

  constructor(endpoint: Endpoint, settings: SessionSettings) {
    this.endpoint = endpoint;
    this.#settings = settings;
  }

  /** The session for a new call. */
  session(): Session {
    if (this.#closed) {
      const says = `the connection to ${placeOf(this.endpoint)} is closed on our side`;
      throw new EtcdFailure('unreachable', says, { mayBeDone: false });
    }
    const current = this.#sessions.at(-1);
    if (current?.over === false) return current;
    const next = new Session(this.endpoint, this.#settings);
    this.#sessions = [...this.#sessions.filter(({ gone }) => !gone), next];
    return next;
  }

  /** Gives the connection back once the calls on it have ended; another call opens a new one. */
  rest(): void {
    this.#sessions.at(-1)?.retire();
  }

  /** Ends every call, and lets none begin. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.abort();
    this.#sessions = [];
  }
}
