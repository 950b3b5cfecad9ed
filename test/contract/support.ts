import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';
import { type ApiResponse, done, type Json, patches, type Server, serverOf } from './server.ts';

export { type ApiResponse, done, type Json, patches, refusal } from './server.ts';

/** True if the server is the lab's. The lab has no nodes here, so the test sets what a kubelet would set. */
export const isLab = process.env['CONTRACT_OF'] === 'lab';

/** The server under test: a namespace for this test file, kubectl in that namespace, and plain HTTP requests. */
export interface Contract extends Pick<Server, 'request' | 'watchEvents'> {
  readonly namespace: string;
  readonly kubectl: Kubectl;
  /** The path of the object with this kind and name. */
  readonly pathOf: (object: Json) => Promise<string>;
  /** Creates an object as kubectl does, with strict field validation. `query` adds parameters. */
  readonly create: (object: Json, query?: string) => Promise<ApiResponse>;
  /** Applies an object on the server side, as kubectl does. */
  readonly apply: (object: Json, query?: string) => Promise<ApiResponse>;
  readonly patch: (path: string, body: object, type?: keyof typeof patches) => Promise<ApiResponse>;
}

/** Creates a namespace before the tests of the file and deletes it after them. */
export function contract(name: string): Contract {
  const { withNamespace, ...rest } = namespaceFor(`contract-${name}`);
  withNamespace();
  return rest;
}

export interface PreparedContract extends Contract {
  /** Creates the namespace before the tests of this file and deletes it after them. */
  readonly withNamespace: () => void;
}

export function namespaceFor(title: string): PreparedContract {
  const namespace = `${title}-${randomBytes(3).toString('hex')}`;
  let server: Server;
  const request: Server['request'] = (...parameters) => server.request(...parameters);
  const withNamespace = (): void => {
    beforeAll(async () => {
      server = serverOf(await fromKubeconfig(kubeconfigPath()));
      await done(request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } }));
      await waitForObject(server, `/api/v1/namespaces/${namespace}/serviceaccounts`, 'default');
      await waitForObject(server, `/api/v1/namespaces/${namespace}/configmaps`, 'kube-root-ca.crt');
    });
    afterAll(async () => {
      await done(request('DELETE', `/api/v1/namespaces/${namespace}`));
      await server.close();
    });
  };
  const pathOf = async (object: Json): Promise<string> =>
    `${await server.collectionOf(object, namespace)}/${nameOf(object)}`;
  return {
    ...{ namespace, kubectl: kubectlIn(namespace), request, withNamespace },
    watchEvents: (path, enough) => server.watchEvents(path, enough),
    pathOf,
    apply: async (object, query = '') =>
      request('PATCH', `${await pathOf(object)}?fieldManager=kubectl&fieldValidation=Strict${query}`, {
        body: object,
        contentType: 'application/apply-patch+yaml',
      }),
    create: async (object, query = '') =>
      request('POST', `${await server.collectionOf(object, namespace)}?fieldValidation=Strict${query}`, {
        body: object,
      }),
    patch: (path, body, type = 'merge') => request('PATCH', path, { body, contentType: patches[type] }),
  };
}

const nameOf = (object: Json): string => (object['metadata'] as { readonly name: string }).name;

/** Waits for an object that the control plane creates in every namespace. */
async function waitForObject(server: Server, collection: string, name: string): Promise<void> {
  const query = `watch=true&timeoutSeconds=100&fieldSelector=metadata.name%3D${name}`;
  const events = await server.watchEvents(`${collection}?${query}`, 1);
  if (events.length === 0) throw new Error(`${collection}/${name} was not created within 100 s`);
}

export const configMap = (name: string, content: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(content['metadata'] as Json | undefined) },
  data: content['data'] ?? { key: 'value' },
});
