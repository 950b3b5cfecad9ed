import { describe, expect, it } from 'vitest';
import { etcdClusterCrd } from '../../coreos-v1beta2/crd.ts';
import { etcdClusterCrd as improbableClusterCrd } from '../../improbable-v1alpha1/crd.ts';

describe('a CustomResourceDefinition', () => {
  it('sets preserveUnknownFields to false, so that it can be applied over definitions that set it to true', () => {
    for (const crd of [etcdClusterCrd(), improbableClusterCrd()])
      expect(crd.spec).toMatchObject({ preserveUnknownFields: false });
  });
});
