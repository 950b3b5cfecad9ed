import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { fieldsOf, textOf } from '../json.ts';
import { type KubeObject, timeOf } from '../object.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const algorithm = 'ES256';

/** A request for a token. */
export interface IssueRequest {
  readonly account: KubeObject;
  readonly seconds: number;
  readonly audiences: readonly string[];
  /** The token is valid only as long as this object exists. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** The claims of a valid token. */
export interface TokenClaims {
  readonly namespace: string;
  readonly account: string;
  readonly uid: string;
  readonly pod?: { readonly name: string; readonly uid: string };
}

/** Issues and verifies ServiceAccount tokens. */
export class Tokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor({ privateKey, publicKey }: { privateKey: string; publicKey: string }) {
    this.#privateKey = createPrivateKey(privateKey);
    this.#publicKey = createPublicKey(publicKey);
  }

  async make({ account, seconds, audiences, boundTo }: IssueRequest): Promise<{ token: string; expires: string }> {
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

  /** The claims of a token; `undefined` if it is invalid or expired. */
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
