import { Caller, type CallOptions } from './call.ts';
import type { Endpoint } from './endpoint.ts';
import { EtcdFailure } from './errors.ts';
import { Auth } from './gen/etcd_pb.ts';
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
  /** Tries a user's name and password; fails as `wrong-password` or `auth-not-enabled`. */
  readonly authenticate: (user: string, password: string, options?: CallOptions) => Promise<void>;
  /** Ends every call that is open, and lets none begin. */
  readonly close: () => void;
  /** Gives the network connection back as soon as no call is open; a later call opens it again. */
  readonly rest: () => void;
}

export interface ConnectionSettings extends SessionSettings {
  /** How long an answer may take where the caller does not say. */
  readonly timeoutMillis: number;
}

export const usualSettings: ConnectionSettings = { ...usualSession, timeoutMillis: 5_000 };

export function connectionTo(endpoint: Endpoint, settings: Partial<ConnectionSettings> = {}): EtcdConnection {
  if (!/^https?:$/.test(URL.parse(endpoint.url)?.protocol ?? ''))
    throw new EtcdFailure('bug', `this is no address of a member: ${endpoint.url}`, { mayBeDone: false });
  const { timeoutMillis, ...session } = { ...usualSettings, ...settings };
  const line = new Line(endpoint, session);
  const caller = new Caller(line, timeoutMillis);
  return {
    endpoint,
    ...membershipOf(caller),
    ...maintenanceOf(caller),
    ...keysOf(caller),
    authenticate: async (user, password, options) => {
      await caller.ask(Auth.method.authenticate, { name: user, password }, options);
    },
    close: () => line.close(),
    rest: () => line.rest(),
  };
}
