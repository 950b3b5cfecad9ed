import type { TLSSocket } from 'node:tls';
import type { Request } from '../http/respond.ts';
import type { ServerState } from '../state.ts';
import { anonymous, authenticated, type User } from './user.ts';

/** Who sent a request: by the certificate of the connection, or by a token. */
export async function userOf(_state: ServerState, request: Request): Promise<User> {
  return userOfCertificate(request.socket as TLSSocket) ?? anonymous;
}

function userOfCertificate(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { CN, O } = socket.getPeerCertificate().subject;
  const groups = Array.isArray(O) ? O : [O ?? ''];
  return { name: String(CN), groups: [...groups.map(String).filter(Boolean), authenticated] };
}
