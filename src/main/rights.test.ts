import { describe, expect, it } from 'vitest';
import { documentsIn, rightsIn } from '../../test/support/roles.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import {
  isForLocks,
  missingRights,
  nameOfRight,
  neededRights,
  type Right,
  rightsAtHome,
  rightsInPlace,
  tellMissing,
} from './rights.ts';

const namesOf = (rights: readonly Right[]): readonly string[] => rights.map(nameOfRight).toSorted();

const apis = [coreos];

describe.each([
  ['coreos', coreos],
  ['improbable', improbable],
])('the rights of the operator on the API of %s', (name, dialect) => {
  const needed = neededRights([dialect]);

  it('are exactly those of the shipped Role', () => {
    expect(rightsIn(`examples/${name}/etcd-operator-role.yaml`, 'Role')).toEqual(namesOf(needed));
  });

  it('are, for all namespaces, those of the shipped ClusterRole, and a Role at home for its locks', () => {
    const [atHome, anywhere] = [needed.filter(isForLocks), needed.filter((right) => !isForLocks(right))];
    expect(rightsIn(`deploy/${name}/operator-roles.yaml`, 'ClusterRole')).toEqual(namesOf(anywhere));
    expect(rightsIn(`deploy/${name}/operator-roles.yaml`, 'Role')).toEqual(namesOf(atHome));
  });
});

describe.each([
  ['coreos', coreos],
  ['improbable', improbable],
])('the rights of an operator of named namespaces, on the API of %s', (name, dialect) => {
  const roles = `deploy/namespaces/${name}/operator-roles.yaml`;

  it('are, in each of them, those of the shipped ClusterRole, and at home those of the Role', () => {
    const [isOutside, isApart] = [false, true];
    expect(rightsIn(roles, 'ClusterRole')).toEqual(namesOf(rightsInPlace([dialect], { isOutside, hadLocks: true })));
    expect(rightsIn(roles, 'Role')).toEqual(namesOf(rightsAtHome([dialect], { isApart, hasStore: false })));
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

  it('go with a Deployment that differs from the one for all namespaces in one flag', () => {
    const wide = JSON.stringify(documentsIn(`deploy/${name}/operator-deployment.yaml`));
    const named = JSON.stringify(documentsIn(`deploy/namespaces/${name}/operator-deployment.yaml`));
    expect(named).toBe(wide.replace('--cluster-wide', '--namespaces=team-a,team-b'));
  });
});

describe('the rights of the operator', () => {
  it('on the second API are shipped under names of their own too, for an operator that serves the first', () => {
    const beside = rightsIn('examples/improbable/beside-coreos.yaml', 'Role');
    expect(beside).toEqual(namesOf(neededRights([improbable])));
  });

  it('on both APIs are those of either', () => {
    const both = new Set(namesOf(neededRights([coreos, improbable])));
    expect(both).toEqual(new Set([...namesOf(neededRights([coreos])), ...namesOf(neededRights([improbable]))]));
  });

  it('that are missing are told with what stays undone', async () => {
    const client = {
      review: async (_: unknown, { resourceAttributes }: never) => ({
        allowed: (resourceAttributes as { group: string }).group !== 'policy',
      }),
    };
    expect(tellMissing(await missingRights(client as never, neededRights(apis), 'default'))).toEqual([
      'may not list poddisruptionbudgets.policy, watch poddisruptionbudgets.policy, create poddisruptionbudgets.policy, ' +
        'patch poddisruptionbudgets.policy, delete poddisruptionbudgets.policy: draining nodes may stop a majority',
    ]);
  });

  it('include port-forwards outside the cluster, and only there', async () => {
    const client = {
      review: async (_: unknown, { resourceAttributes }: never) => ({
        allowed: (resourceAttributes as { subresource?: string }).subresource !== 'portforward',
      }),
    };
    const missing = async (isOutside: boolean) =>
      tellMissing(await missingRights(client as never, rightsInPlace(apis, { isOutside, hadLocks: false }), 'default'));
    expect(await missing(false)).toEqual([]);
    expect(await missing(true)).toEqual([
      "may not get pods/portforward, create pods/portforward: etcd is not reached where pods' addresses lead nowhere",
    ]);
  });
});
