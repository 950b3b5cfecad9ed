import { Caller, type CallOptions, type TokenElsewhere } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';
import { type Keys, keysOf } from './keys.ts';
import { Line } from './line.ts';
import { type MaintenanceOfMember, maintenanceOf } from './maintenance.ts';
import { type Membership, membershipOf } from './membership.ts';
import { type SessionSettings, usualSession } from './session.ts';

/**
 * The client side of one member: whatever is asked is asked of that member and of no other. Connects with the first call,
 * and again whenever it has to. All that fails, fails as an EtcdFailure.
 */
export interface EtcdConnection extends Membership, MaintenanceOfMember, Keys {
  readonly endpoint: Endpoint;
  /** Tries a user's name and password, and gives a token; fails as `wrong-password` or `auth-not-enabled`. */
  readonly authenticate: (user: string, password: string, options?: CallOptions) => Promise<string>;
  /** Ends every call that is open, and lets none begin. */
  readonly close: () => void;
  /** Gives the network connection back as soon as no call is open; a later call opens it again. */
  readonly rest: () => void;
}

export interface ConnectionSettings extends SessionSettings {
  /** How long an answer may take where the caller does not say. */
  readonly timeoutMillis: number;
  /** Gets a token from another member, for one that gives none. */
  readonly tokenElsewhere?: TokenElsewhere;
  /** Called right before a request is sent that may change something; the request is not sent if this throws. */
  readonly confirmChange?: (() => void) | undefined;
}

export const usualSettings: ConnectionSettings = { ...usualSession, timeoutMillis: 5_000 };

export function connectionTo(endpoint: Endpoint, settings: Partial<ConnectionSettings> = {}): EtcdConnection {
  if (!/^https?:$/.test(URL.parse(endpoint.url)?.protocol ?? ''))
    throw new EtcdFailure('bug', `this is no address of a member: ${endpoint.url}`, { mayBeDone: false });
  const { timeoutMillis, tokenElsewhere, confirmChange, ...session } = { ...usualSettings, ...settings };
  const line = new Line(endpoint, session);
  const caller = new Caller(line, { usualMillis: timeoutMillis, tokenElsewhere, confirmChange });
  return {
    endpoint,
    ...membershipOf(caller),
    ...maintenanceOf(caller),
    ...keysOf(caller),
    authenticate: (user, password, options) => caller.authenticate({ user, password }, options),
    close: () => line.close(),
    rest: () => line.rest(),
  };
}
