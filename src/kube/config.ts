import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { Failure } from '../std/failure.ts';

/** All that is needed to speak to one API server. */
export interface Access {
  /** May have a path, below which the API then is; plain http is for tests and for the lab. */
  readonly url: URL;
  /** The namespace we are in, or the one our user chose. */
  readonly namespace: string | undefined;
  /** Asked for each new connection, so that a renewed authority or client certificate is taken up. */
  readonly tls: () => Promise<ConnectionOptions>;
  /** Asked for each request, because tokens expire. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Called when the server has not accepted the credentials: a token that is kept is read again. */
  readonly refused?: () => void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Kubernetes puts what a pod needs to speak to its API server. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet renews a token long before it expires; a copy this old is still good. */
const tokenAgeMillis = 60_000;

/** The access that every pod is given; `undefined` when this is not a pod. */
export async function inCluster(
  env: Environment,
  { directory = serviceAccountDirectory, monotonic = () => performance.now() } = {},
): Promise<Access | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return undefined;
  const token = fileReadAgain(join(directory, 'token'), monotonic);
  return {
    url: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    namespace: await contents(join(directory, 'namespace')),
    tls: async () => ({ ca: await contents(join(directory, 'ca.crt')) }),
    headers: async () => ({ authorization: `Bearer ${await token.read()}` }),
    refused: token.drop,
  };
}

/** The access a kubeconfig file describes: certificates, tokens, and programs that hand out either. */
export async function fromKubeconfig(path: string, context?: string): Promise<Access> {
  // Loaded only here: it is large, and a pod never needs it.
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

/** The access to a server that asks no questions. */
export const withoutCredentials = (url: string): Access => ({
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

interface RenewedFile {
  readonly read: () => Promise<string>;
  /** The next `read` reads the file again. */
  readonly drop: () => void;
}

/** Reads a file that somebody renews: not for every request, but often enough. */
function fileReadAgain(path: string, monotonic: () => number): RenewedFile {
  let last: { readonly text: Promise<string>; readonly at: number } | undefined;
  const drop = (): void => {
    last = undefined;
  };
  const read = (): Promise<string> => {
    if (last === undefined || monotonic() - last.at > tokenAgeMillis) {
      const text = contents(path);
      last = { text, at: monotonic() };
      // What failed is not kept: the next request looks again. The failure itself reaches whoever awaits `text`.
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
