import { describe, expect, it } from 'vitest';
import { etcdClusterCrd } from './coreos-v1beta2/crd.ts';
import { etcdClusterCrd as improbableClusterCrd } from './improbable-v1alpha1/crd.ts';

describe('a definition', () => {
  it('says that unknown fields are dropped, so that it can be applied over one of long ago, where they are kept', () => {
    for (const crd of [etcdClusterCrd(), improbableClusterCrd()])
      expect(crd.spec).toMatchObject({ preserveUnknownFields: false });
  });
});
