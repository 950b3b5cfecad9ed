import { describe, expect, it } from 'vitest';
import { coreos } from '../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../apis/improbable-v1alpha1/dialect.ts';
import { describeReach, isServedBy, namespacesOf } from './reach.ts';

const own = { clusterWide: false, namespaces: undefined };
const named = { clusterWide: false, namespaces: ['team-a', 'team-b'] };
const every = { clusterWide: false, namespaces: ['*'] };
const wide = { clusterWide: true, namespaces: undefined };

describe('the namespaces of an operator', () => {
  it('are its own, those of --namespaces, or all', () => {
    expect(namespacesOf(own, 'home')).toEqual(['home']);
    expect(namespacesOf(named, 'home')).toEqual(['team-a', 'team-b']);
    expect(namespacesOf(every, 'home')).toEqual([undefined]);
    expect(namespacesOf(wide, 'home')).toEqual([undefined]);
  });

  it('are described with the ignored resources and the flags to change that', () => {
    expect(describeReach(own, 'home', [improbable])).toBe(
      'watching namespace home: resources in other namespaces are ignored; to watch more namespaces, grant the rights and ' +
        'set --namespaces or --cluster-wide',
    );
    expect(describeReach(named, 'home', [coreos])).toMatch(
      /^watching namespaces team-a, team-b: .* annotation etcd\.database\.coreos\.com\/scope are left to .*--cluster-wide;/,
    );
    expect(describeReach(wide, 'home', [coreos, improbable])).toBe(
      'watching all namespaces; where the API has it, only resources with the annotation etcd.database.coreos.com/scope: clusterwide',
    );
    expect(describeReach(every, 'home', [coreos])).toContain('with and without the annotation');
    expect(describeReach(wide, 'home', [improbable])).toBe('watching all namespaces');
  });
});

describe('the scope annotation of the coreos API', () => {
  const at = (scope?: string) => ({
    ...{ name: 'db', namespace: 'team-a' },
    annotations: scope === undefined ? {} : { 'etcd.database.coreos.com/scope': scope },
  });
  const served = (reach: typeof own | typeof named) =>
    [undefined, 'clusterwide'].map((scope) => isServedBy(reach)(at(scope), coreos));

  it('assigns a cluster to --cluster-wide instead of an operator of named namespaces', () => {
    expect([served(own), served(named), served(wide)]).toEqual([
      [true, false],
      [true, false],
      [false, true],
    ]);
  });

  it("has no effect with --namespaces='*' and in the improbable API", () => {
    expect(served(every)).toEqual([true, true]);
    for (const reach of [own, named, wide, every]) expect(isServedBy(reach)(at(), improbable)).toBe(true);
  });
});
