import { Caller, type CallOptions, type TokenFromOtherMember } from './call.ts';
import { MemberConnection } from './connection.ts';
import type { CallClock } from './deadline.ts';
import type { Endpoint } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';
import { type Keys, keysOf } from './keys.ts';
import { type MaintenanceOfMember, maintenanceOf } from './maintenance.ts';
import { type MembershipCalls, membershipCalls } from './membership.ts';
import { defaultSession, type OpenSession, type SessionSettings } from './session.ts';

/**
 * A client of one member: all calls go to that member only. It connects with the first call, and reconnects on demand.
 * All errors are thrown as an EtcdFailure.
 */
export interface EtcdConnection extends MembershipCalls, MaintenanceOfMember, Keys {
  readonly endpoint: Endpoint;
  /** Gets a token for a user. Fails as `wrong-password` or `auth-not-enabled`. */
  readonly authenticate: (user: string, password: string, options?: CallOptions) => Promise<string>;
  /** Ends every call and refuses new ones. */
  readonly close: () => void;
  /** Closes the connection after its open calls; a later call opens it again. */
  readonly closeWhenIdle: () => void;
}

export interface ConnectionSettings extends SessionSettings {
  /** The default time-out of a call. */
  readonly timeoutMillis: number;
  /** Gets a token from another member: a learner issues none. */
  readonly tokenFromOtherMember?: TokenFromOtherMember;
  /** Called right before a write request is sent. If it throws, nothing is sent. */
  readonly confirmWrite?: (() => void) | undefined;
  /** Measures time-outs; by default the clock of the process. */
  readonly clock?: CallClock | undefined;
  /** Opens the connection; by default over the network. */
  readonly open?: OpenSession | undefined;
}

export const defaultSettings: ConnectionSettings = { ...defaultSession, timeoutMillis: 5_000 };

export function connectionTo(endpoint: Endpoint, settings: Partial<ConnectionSettings> = {}): EtcdConnection {
  if (!/^https?:$/.test(URL.parse(endpoint.url)?.protocol ?? ''))
    throw new EtcdFailure('bug', `not an http or https URL of a member: ${endpoint.url}`, { mayBeDone: false });
  const { open, timeoutMillis, tokenFromOtherMember, confirmWrite, clock, ...session } = {
    ...defaultSettings,
    ...settings,
  };
  const connection = new MemberConnection(endpoint, session, open);
  const caller = new Caller(connection, { defaultMillis: timeoutMillis, tokenFromOtherMember, confirmWrite, clock });
  return {
    endpoint,
    ...membershipCalls(caller),
    ...maintenanceOf(caller),
    ...keysOf(caller),
    authenticate: (user, password, options) => caller.authenticate({ user, password }, options),
    close: () => connection.close(),
    closeWhenIdle: () => connection.closeWhenIdle(),
  };
}
