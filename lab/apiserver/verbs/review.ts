import { userOfToken } from '../auth/authenticate.ts';
import { mayDo, mayRead } from '../auth/authorize.ts';
import { type PolicyRule, rulesFor } from '../auth/rules.ts';
import { isMaster, type User } from '../auth/user.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../json.ts';
import { now } from '../object.ts';
import type { ServerState } from '../state.ts';
import { NoSuchPath } from '../status-error.ts';
import type { ApiResponse, Call } from './call.ts';
import { decodeObject } from './decode.ts';

type Review = (spec: Fields, call: Call) => Fields | Promise<Fields>;

/** Reviews: the client creates an object that is answered and not stored. */
const reviews: Readonly<Record<string, Review>> = {
  selfsubjectaccessreviews: (spec, { state, user }) => access(state, user, spec),
  subjectaccessreviews: (spec, { state }) => access(state, namedUser(spec), spec),
  localsubjectaccessreviews: (spec, { state }) => access(state, namedUser(spec), spec),
  selfsubjectrulesreviews: (spec, { state, user }) => rules(state, user, textOf(spec['namespace'])),
  selfsubjectreviews: (_, { user }) => ({ userInfo: infoOf(user) }),
  tokenreviews: async (spec, { state }) => {
    const user = await userOfToken(state, textOf(spec['token']));
    return user === undefined
      ? { authenticated: false, error: 'the token is not valid' }
      : { authenticated: true, user: infoOf(user) };
  },
};

export async function review(call: Call): Promise<ApiResponse> {
  const answer = reviews[call.type.plural];
  if (answer === undefined) throw new NoSuchPath();
  const { object, warnings } = decodeObject(call);
  const status = await answer(fieldsOf(object['spec']), call);
  return { code: 201, body: { ...object, metadata: { creationTimestamp: now() }, status }, warnings };
}

const infoOf = ({ name, uid, groups }: User): Fields => ({ username: name, ...(uid !== undefined && { uid }), groups });

const namedUser = (spec: Fields): User => ({ name: textOf(spec['user']), groups: listOf(spec['groups']).map(String) });

function access(state: ServerState, user: User, spec: Fields): Fields {
  const { nonResourceAttributes, resourceAttributes } = spec;
  const asked = fieldsOf(nonResourceAttributes);
  const allowed =
    nonResourceAttributes === undefined
      ? mayDo(state, user, attributesOf(fieldsOf(resourceAttributes)))
      : mayRead(state, user, { path: textOf(asked['path']), verb: textOf(asked['verb']) });
  return { allowed };
}

/** Omits an attribute that is empty. */
const given = (attributes: Fields, field: string, as: string): Fields =>
  textOf(attributes[field]) === '' ? {} : { [as]: textOf(attributes[field]) };

const attributesOf = (attributes: Fields): Parameters<typeof mayDo>[2] => ({
  verb: textOf(attributes['verb']),
  group: textOf(attributes['group']),
  plural: textOf(attributes['resource']),
  ...given(attributes, 'namespace', 'namespace'),
  ...given(attributes, 'name', 'name'),
  ...given(attributes, 'subresource', 'subresource'),
});

const everything: PolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  resourceNames: [],
  nonResourceURLs: [],
};

function rules(state: ServerState, user: User, namespace: string): Fields {
  const found = isMaster(user)
    ? [everything, { ...everything, resources: [], apiGroups: [], nonResourceURLs: ['*'] }]
    : rulesFor(state, user, namespace);
  const resourceRules = found
    .filter(({ resources }) => resources.length > 0)
    .map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length > 0 && { resourceNames }),
    }));
  const nonResourceRules = found
    .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  return { resourceRules, nonResourceRules, incomplete: false };
}
