import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { Failure } from '../std/failure.ts';

/** Address and credentials of one API server. */
export interface Access {
  /** May have a path, which prefixes all requests. Plain http is for tests and the lab. */
  readonly url: URL;
  /** The namespace of this pod, or of the kubeconfig context. */
  readonly namespace: string | undefined;
  /** Called for each new connection, so that a renewed CA or client certificate is used. */
  readonly tls: () => Promise<ConnectionOptions>;
  /** Called for each request, because tokens expire. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Called after a 401: a cached token is read again. */
  readonly onUnauthorized?: () => void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The directory where Kubernetes mounts the token, CA and namespace of a pod's service account. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';
/** How long a token is cached. The kubelet renews a token long before it expires. */
const tokenAgeMillis = 60_000;

/** The access of this pod's service account; `undefined` outside a pod. */
export async function inCluster(
  env: Environment,
  { directory = serviceAccountDirectory, monotonic = () => performance.now() } = {},
): Promise<Access | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return undefined;
  const token = cachedFile(join(directory, 'token'), monotonic);
  return {
    url: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: await contents(join(directory, 'namespace')),
    tls: async () => ({ ca: await contents(join(directory, 'ca.crt')) }),
    headers: async () => ({ authorization: `Bearer ${await token.read()}` }),
    onUnauthorized: token.drop,
  };
}

/** The access of a kubeconfig file: certificates, tokens and exec plugins. */
export async function fromKubeconfig(path: string, context?: string): Promise<Access> {
  // Imported here, because it is large and a pod never needs it.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(path);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Failure('rejected', `${path}: the current context names no cluster`);
  const options = async (): Promise<RequestOptions> => {
    const filled: RequestOptions = {};
    await config.applyToHTTPSOptions(filled);
    return filled;
  };
  return {
    url: new URL(cluster.server),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    tls: async () => tlsOf(await options()),
    headers: async () => headersOf(await options()),
  };
}

/** Access without credentials. */
export const anonymousAccess = (url: string): Access => ({
  url: new URL(url),
  namespace: undefined,
  tls: async () => ({}),
  headers: async () => ({}),
});

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): ConnectionOptions {
  const given = Object.entries({ ca, cert, key, servername, rejectUnauthorized });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null));
}

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { ...basic, ...Object.fromEntries(given) };
}

interface CachedFile {
  readonly read: () => Promise<string>;
  /** The next `read` reads the file again. */
  readonly drop: () => void;
}

/** Reads a file that is renewed from time to time, and caches it for `tokenAgeMillis`. */
function cachedFile(path: string, monotonic: () => number): CachedFile {
  let last: { readonly text: Promise<string>; readonly at: number } | undefined;
  const drop = (): void => {
    last = undefined;
  };
  const read = (): Promise<string> => {
    if (last === undefined || monotonic() - last.at > tokenAgeMillis) {
      const text = contents(path);
      last = { text, at: monotonic() };
      // A failed read is not cached. The failure itself reaches the caller that awaits `text`.
      text.catch(drop);
    }
    return last.text;
  };
  return { read, drop };
}

async function contents(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new Failure('unreachable', `cannot read ${path}`, { cause: error });
  }
}
