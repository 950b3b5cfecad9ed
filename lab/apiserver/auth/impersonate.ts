import type { IncomingHttpHeaders } from 'node:http';
import type { ServerState } from '../state.ts';
import { authorize } from './authorize.ts';
import { authenticated, groupsOfAccount, type User } from './user.ts';

/** The impersonated user, if the request has impersonation headers and its sender may impersonate. */
export function impersonated(state: ServerState, user: User, headers: IncomingHttpHeaders): User {
  const [name] = valuesOf(headers, 'impersonate-user');
  if (name === undefined) return user;
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  const groups = valuesOf(headers, 'impersonate-group');
  const check = (plural: string, what: string, where?: string): void =>
    authorize(state, user, {
      verb: 'impersonate',
      group: '',
      plural,
      name: what,
      ...(where !== undefined && { namespace: where }),
    });
  if (namespace !== undefined && account !== undefined) check('serviceaccounts', account, namespace);
  else check('users', name);
  for (const group of groups) check('groups', group);
  const own = namespace === undefined || groups.length > 0 ? groups : groupsOfAccount(namespace);
  return { name, groups: [...new Set([...own, authenticated])] };
}

function valuesOf(headers: IncomingHttpHeaders, name: string): readonly string[] {
  const sent = headers[name];
  const texts = Array.isArray(sent) ? sent : (sent?.split(', ') ?? []);
  return texts.filter(Boolean);
}
