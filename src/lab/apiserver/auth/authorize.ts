import type { ServerState } from '../state.ts';
import type { User } from './user.ts';

/** What somebody wants to do. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export function authorize(_state: ServerState, _user: User, _attributes: Attributes): void {}

export function authorizePath(_state: ServerState, _user: User, _asked: { path: string; verb: string }): void {}
