import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';
import { done, type Json, patches, type Server, type Spoken, serverOf } from './server.ts';

export { done, type Json, patches, refusal, type Spoken } from './server.ts';

/** Whether the server is the lab's: only what a node does must then be done by the test. */
export const isLab = process.env['CONTRACT_OF'] === 'lab';

/** A server under test: a namespace of the file's own, kubectl in it, and plain HTTP. */
export interface Contract extends Pick<Server, 'say' | 'watched'> {
  readonly namespace: string;
  readonly kubectl: Kubectl;
  /** Where an object is, if there is one of that kind and name. */
  readonly pathOf: (object: Json) => Promise<string>;
  /** Creates an object as kubectl does, which refuses unknown fields; with a query, as that says. */
  readonly create: (object: Json, query?: string) => Promise<Spoken>;
  /** Server-side apply, as kubectl does it. */
  readonly apply: (object: Json, query?: string) => Promise<Spoken>;
  readonly patch: (path: string, body: object, type?: keyof typeof patches) => Promise<Spoken>;
}

/** With `name`, the namespace is made before the tests of the file, and deleted after them. */
export function contract(name: string): Contract {
  const { withNamespace, ...rest } = namespaceFor(`contract-${name}`);
  withNamespace();
  return rest;
}

export interface Prepared extends Contract {
  /** Makes the namespace before the tests of this file, and deletes it after them. */
  readonly withNamespace: () => void;
}

export function namespaceFor(title: string): Prepared {
  const namespace = `${title}-${randomBytes(3).toString('hex')}`;
  let server: Server;
  const say: Server['say'] = (...words) => server.say(...words);
  const withNamespace = (): void => {
    beforeAll(async () => {
      server = serverOf(await fromKubeconfig(kubeconfigPath()));
      await done(say('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } }));
      await appears(server, `/api/v1/namespaces/${namespace}/serviceaccounts`, 'default');
      await appears(server, `/api/v1/namespaces/${namespace}/configmaps`, 'kube-root-ca.crt');
    });
    afterAll(async () => {
      await done(say('DELETE', `/api/v1/namespaces/${namespace}`));
      await server.close();
    });
  };
  const pathOf = async (object: Json): Promise<string> =>
    `${await server.collectionOf(object, namespace)}/${nameOf(object)}`;
  return {
    ...{ namespace, kubectl: kubectlIn(namespace), say, withNamespace },
    watched: (path, enough) => server.watched(path, enough),
    pathOf,
    apply: async (object, query = '') =>
      say('PATCH', `${await pathOf(object)}?fieldManager=kubectl&fieldValidation=Strict${query}`, {
        body: object,
        contentType: 'application/apply-patch+yaml',
      }),
    create: async (object, query = '') =>
      say('POST', `${await server.collectionOf(object, namespace)}?fieldValidation=Strict${query}`, { body: object }),
    patch: (path, body, type = 'merge') => say('PATCH', path, { body, contentType: patches[type] }),
  };
}

const nameOf = (object: Json): string => (object['metadata'] as { readonly name: string }).name;

/** Waits for what the server, or a controller beside it, puts into every namespace. */
async function appears(server: Server, collection: string, name: string): Promise<void> {
  const query = `watch=true&timeoutSeconds=100&fieldSelector=metadata.name%3D${name}`;
  const events = await server.watched(`${collection}?${query}`, 1);
  if (events.length === 0) throw new Error(`${collection}/${name} was not made within 100 s`);
}

export const configMap = (name: string, content: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(content['metadata'] as Json | undefined) },
  data: content['data'] ?? { key: 'value' },
});
