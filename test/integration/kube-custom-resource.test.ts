import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isExpired } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { customResourceDefinitions, namespaced } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { type TestAccess, testAccess } from '../support/kube-connection.ts';
import { until } from '../support/until.ts';

let access: TestAccess;
beforeAll(async () => {
  access = await testAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

interface Widget extends KubeObject {
  readonly spec: { readonly size: number };
  readonly status?: { readonly ready: number };
}

describe('a custom resource', () => {
  const group = `g${randomBytes(3).toString('hex')}.example.com`;
  const widgets = namespaced<Widget>({ group, version: 'v1', plural: 'widgets', kind: 'Widget' });

  it('is updated through status and scale, and a watch from an expired version fails with Expired', async () => {
    const { client, namespace } = access;
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } };
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.ready' };
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
    const definition = await client.create(customResourceDefinitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } }],
      },
    });
    try {
      const at = { namespace, name: 'one' };
      const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: at, spec: { size: 3 } };
      const created = await until('the kind is served', () => client.create(widgets, widget));
      const updated = await client.update(widgets, { ...created, status: { ready: 2 } }, { subresource: 'status' });
      expect(updated).toMatchObject({ spec: { size: 3 }, status: { ready: 2 } });
      await client.patch(widgets, at, { type: 'merge', body: { spec: { replicas: 5 } }, subresource: 'scale' });
      expect(await client.get(widgets, at)).toMatchObject({ spec: { size: 5 }, status: { ready: 2 } });
      const watchFromExpiredVersion = async (): Promise<void> => {
        for await (const _ of client.watch(widgets, { resourceVersion: '1', lastsSeconds: 5 }));
      };
      // A server that has just begun to serve a kind may reject watches of it for a moment.
      const { thrown } = await until('the kind can be watched', async () => {
        const failure: unknown = await watchFromExpiredVersion().catch((error: unknown) => error);
        return Failure.from(failure).kind === 'unreachable' ? undefined : { thrown: failure };
      });
      expect(thrown).toSatisfy(isExpired);
    } finally {
      await client.remove(customResourceDefinitions, definition.metadata);
    }
  });
});
