import type { ServerState } from '../state.ts';
import { StatusError } from '../status-error.ts';
import { includes, type PolicyRule, rulesFor } from './rules.ts';
import { isMaster, type User } from './user.ts';

/** The action that is to be authorized. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface PathAttributes {
  readonly path: string;
  readonly verb: string;
}

export const mayDo = (state: ServerState, user: User, attributes: Attributes): boolean =>
  isMaster(user) || rulesFor(state, user, attributes.namespace).some((rule) => allows(rule, attributes));

function allows(rule: PolicyRule, { verb, group, plural, name, subresource }: Attributes): boolean {
  const isNamed = rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name));
  return (
    includes(rule.verbs, verb) &&
    includes(rule.apiGroups, group) &&
    isNamed &&
    coversResource(rule, plural, subresource)
  );
}

function coversResource({ resources }: PolicyRule, plural: string, subresource: string | undefined): boolean {
  if (subresource === undefined) return includes(resources, plural);
  return includes(resources, `${plural}/${subresource}`) || resources.includes(`*/${subresource}`);
}

export const mayRead = (state: ServerState, user: User, { path, verb }: PathAttributes): boolean =>
  isMaster(user) ||
  rulesFor(state, user, undefined).some(
    ({ verbs, nonResourceURLs }) =>
      includes(verbs, verb) && nonResourceURLs.some((pattern) => coversPath(pattern, path)),
  );

const coversPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;

export function authorize(state: ServerState, user: User, attributes: Attributes): void {
  if (mayDo(state, user, attributes)) return;
  const { verb, group, plural, namespace, name, subresource } = attributes;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const what = group === '' ? plural : `${plural}.${group}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  throw new StatusError(403, 'Forbidden', {
    message: `${what}${name === undefined ? '' : ` "${name}"`} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`,
    details: { ...(name !== undefined && { name }), ...(group !== '' && { group }), kind: plural },
  });
}

export function authorizePath(state: ServerState, user: User, asked: PathAttributes): void {
  if (mayRead(state, user, asked)) return;
  throw new StatusError(403, 'Forbidden', {
    message: `forbidden: User "${user.name}" cannot ${asked.verb} path "${asked.path}"`,
  });
}
