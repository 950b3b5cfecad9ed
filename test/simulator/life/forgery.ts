import { pods } from '../../../src/kube/resource.ts';
import type { SimulatedObject } from '../api/objects.ts';
import type { World } from './world.ts';

/** The namespace of a user that wants the cluster of another namespace. */
export const foreignNamespace = 'attacker';
const foreignAddress = '10.6.6.6';

/** Creates a ready pod in another namespace that names the cluster as its owner and has its labels. */
export function forge({ metadata, spec, status }: SimulatedObject, { api }: World): string | undefined {
  const name = `${metadata.name}-forged`;
  const at = { namespace: foreignNamespace, name };
  if (api.find(pods, at) !== undefined) return undefined;
  const { labels, annotations, ownerReferences } = metadata;
  const forged = { ...at, labels, annotations, ownerReferences } as SimulatedObject['metadata'];
  api.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: forged,
    spec: { ...Object(spec), hostname: 'db-forged' },
  } as never);
  api.setStatus(pods, at, { ...Object(status), podIP: foreignAddress });
  return `${foreignNamespace}/${name}`;
}

export const isForeign = (address: string | undefined): boolean => address === foreignAddress;
