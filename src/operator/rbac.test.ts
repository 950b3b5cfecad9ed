import { describe, expect, it } from 'vitest';
import { documentsIn, permissionsIn } from '../../test/support/roles.ts';
import { coreos } from '../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../apis/improbable-v1alpha1/dialect.ts';
import {
  describeMissing,
  isForLocks,
  missingRights,
  nameOfRight,
  neededRights,
  type Right,
  rightsAtHome,
  rightsInPlace,
} from './rbac.ts';

const namesOf = (rights: readonly Right[]): readonly string[] => rights.map(nameOfRight).toSorted();

const apis = [coreos];

describe.each([
  ['coreos', coreos],
  ['improbable', improbable],
])('the rights of the operator on the API of %s', (name, dialect) => {
  const needed = neededRights([dialect]);

  it('are exactly those of the shipped Role', () => {
    expect(permissionsIn(`examples/${name}/etcd-operator-role.yaml`, 'Role')).toEqual(namesOf(needed));
  });

  it('for all namespaces are those of the shipped ClusterRole, and of a Role for its locks', () => {
    const [atHome, anywhere] = [needed.filter(isForLocks), needed.filter((right) => !isForLocks(right))];
    expect(permissionsIn(`deploy/${name}/operator-roles.yaml`, 'ClusterRole')).toEqual(namesOf(anywhere));
    expect(permissionsIn(`deploy/${name}/operator-roles.yaml`, 'Role')).toEqual(namesOf(atHome));
  });
});

describe.each([
  ['coreos', coreos],
  ['improbable', improbable],
])('the rights of an operator of named namespaces, on the API of %s', (name, dialect) => {
  const roles = `deploy/namespaces/${name}/operator-roles.yaml`;

  it('are those of the shipped ClusterRole in each of them, and of the Role in its own namespace', () => {
    const [isOutside, isApart] = [false, true];
    expect(permissionsIn(roles, 'ClusterRole')).toEqual(
      namesOf(rightsInPlace([dialect], { isOutside, hadLocks: true })),
    );
    expect(permissionsIn(roles, 'Role')).toEqual(namesOf(rightsAtHome([dialect], { isApart, hasStore: false })));
  });

  it('are bound by RoleBindings only', () => {
    const kinds = documentsIn(roles).map(({ kind }) => kind);
    expect(kinds).toEqual(['ClusterRole', 'Role', 'RoleBinding']);
    const [binding, ...rest] = documentsIn(`deploy/namespaces/${name}/rolebinding.yaml`);
    const { roleRef } = binding as unknown as { roleRef: object };
    expect([binding?.kind, rest]).toEqual(['RoleBinding', []]);
    expect(roleRef).toMatchObject({ kind: 'ClusterRole', name: documentsIn(roles)[0]?.metadata.name });
    expect(binding?.metadata.namespace).toBeUndefined();
  });

  it('are shipped with a Deployment that differs from the one for all namespaces in one flag', () => {
    const wide = JSON.stringify(documentsIn(`deploy/${name}/operator-deployment.yaml`));
    const named = JSON.stringify(documentsIn(`deploy/namespaces/${name}/operator-deployment.yaml`));
    expect(named).toBe(wide.replace('--cluster-wide', '--namespaces=team-a,team-b'));
  });
});

describe('the rights of the operator', () => {
  it('on the improbable API are also shipped under separate names, for an operator that serves the coreos API', () => {
    const beside = permissionsIn('examples/improbable/beside-coreos.yaml', 'Role');
    expect(beside).toEqual(namesOf(neededRights([improbable])));
  });

  it('on both APIs are the union of those on each', () => {
    const both = new Set(namesOf(neededRights([coreos, improbable])));
    expect(both).toEqual(new Set([...namesOf(neededRights([coreos])), ...namesOf(neededRights([improbable]))]));
  });

  it('that are missing are reported with the consequence', async () => {
    const client = {
      review: async (_: unknown, { resourceAttributes }: never) => ({
        allowed: (resourceAttributes as { group: string }).group !== 'policy',
      }),
    };
    expect(describeMissing(await missingRights(client as never, neededRights(apis), 'default'))).toEqual([
      'may not list poddisruptionbudgets.policy, watch poddisruptionbudgets.policy, create poddisruptionbudgets.policy, ' +
        'patch poddisruptionbudgets.policy, delete poddisruptionbudgets.policy: draining nodes may break quorum',
    ]);
  });

  it('include port-forwards outside the cluster, and only there', async () => {
    const client = {
      review: async (_: unknown, { resourceAttributes }: never) => ({
        allowed: (resourceAttributes as { subresource?: string }).subresource !== 'portforward',
      }),
    };
    const missing = async (isOutside: boolean) =>
      describeMissing(
        await missingRights(client as never, rightsInPlace(apis, { isOutside, hadLocks: false }), 'default'),
      );
    expect(await missing(false)).toEqual([]);
    expect(await missing(true)).toEqual([
      'may not get pods/portforward, create pods/portforward: etcd is unreachable if pod addresses are not routable',
    ]);
  });
});
