import type { TLSSocket } from 'node:tls';
import type { Request } from '../http/respond.ts';
import type { ServerState } from '../state.ts';
import { StatusError } from '../status-error.ts';
import { impersonated } from './impersonate.ts';
import { anonymous, authenticated, groupsOfAccount, type User } from './user.ts';

/** The user of a request: its sender, or the user that it impersonates. */
export const userOf = async (state: ServerState, request: Pick<Request, 'headers' | 'socket'>): Promise<User> =>
  impersonated(state, await senderOf(state, request), request.headers);

/** Authenticates by a bearer token or a client certificate. */
async function senderOf(state: ServerState, request: Pick<Request, 'headers' | 'socket'>): Promise<User> {
  const [, token] = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token !== undefined) return (await userOfToken(state, token)) ?? unauthorized();
  return userOfCertificate(request.socket as TLSSocket) ?? anonymous;
}

function unauthorized(): never {
  throw new StatusError(401, 'Unauthorized', { message: 'Unauthorized' });
}

function userOfCertificate(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { CN, O } = socket.getPeerCertificate().subject;
  const groups = Array.isArray(O) ? O : [O ?? ''];
  return { name: String(CN), groups: [...groups.map(String).filter(Boolean), authenticated] };
}

/** The user of a token. The token is valid only while its ServiceAccount and its bound pod exist. */
export async function userOfToken({ tokens, store }: ServerState, token: string): Promise<User | undefined> {
  const claims = await tokens.read(token);
  if (claims === undefined) return undefined;
  const { namespace, account, uid, pod } = claims;
  const uidAt = (collection: string, name: string): string | undefined =>
    store.get({ collection, namespace, name })?.metadata.uid;
  if (uidAt('/serviceaccounts', account) !== uid) return undefined;
  if (pod !== undefined && uidAt('/pods', pod.name) !== pod.uid) return undefined;
  return {
    name: `system:serviceaccount:${namespace}:${account}`,
    uid,
    groups: [...groupsOfAccount(namespace), authenticated],
  };
}
