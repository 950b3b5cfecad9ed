import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { fieldsOf, textOf } from '../json.ts';
import { type KubeObject, timeOf } from '../object.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const algorithm = 'ES256';

/** What a token is made for. */
export interface TokenAsked {
  readonly account: KubeObject;
  readonly seconds: number;
  readonly audiences: readonly string[];
  /** The pod that the token ends with. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** What a valid token says. */
export interface TokenClaims {
  readonly namespace: string;
  readonly account: string;
  readonly uid: string;
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** Makes and reads the tokens of service accounts. */
export class Tokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor({ privateKey, publicKey }: { privateKey: string; publicKey: string }) {
    this.#privateKey = createPrivateKey(privateKey);
    this.#publicKey = createPublicKey(publicKey);
  }

  async make({ account, seconds, audiences, boundTo }: TokenAsked): Promise<{ token: string; expires: string }> {
    const { namespace = '', name, uid } = account.metadata;
    const issued = Math.floor(Date.now() / 1000);
    const pod = boundTo && { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } };
    const token = await new SignJWT({ 'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...pod } })
      .setProtectedHeader({ alg: algorithm })
      .setIssuer(issuer)
      .setAudience([...(audiences.length > 0 ? audiences : [issuer])])
      .setSubject(`system:serviceaccount:${namespace}:${name}`)
      .setIssuedAt(issued)
      .setNotBefore(issued)
      .setExpirationTime(issued + seconds)
      .setJti(randomUUID())
      .sign(this.#privateKey);
    return { token, expires: timeOf(new Date((issued + seconds) * 1000)) };
  }

  /** What a token says, or nothing if it is not one of ours, or not one any more. */
  async read(token: string): Promise<TokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#publicKey, {
        issuer,
        audience: issuer,
        algorithms: [algorithm],
      });
      const { namespace, serviceaccount, pod } = fieldsOf(payload['kubernetes.io']);
      const { name, uid } = fieldsOf(serviceaccount);
      const { name: podName, uid: podUid } = fieldsOf(pod);
      return {
        namespace: textOf(namespace),
        account: textOf(name),
        uid: textOf(uid),
        ...(pod !== undefined && { pod: { name: textOf(podName), uid: textOf(podUid) } }),
      };
    } catch {
      return undefined;
    }
  }
}
