import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../src/kube/object.ts';
import {
  createdByRestore,
  replaced,
  replacedOrdinal,
  viaStoreProxy,
  withManagedTls,
} from './simulation/restore-scenarios.ts';
import type { StoredObject } from './simulation/simulated-objects.ts';
import { type Scenario, SimulatedRestore } from './simulation/simulated-restore.ts';
import { AdmissionPolicy, type Request } from './support/admission-policy.ts';
import { permissionsIn } from './support/roles.ts';

const policy = new AdmissionPolicy('deploy/admission/operator-own-objects.yaml');
const user = 'system:serviceaccount:etcd-operator:etcd-operator';
const metadata = { name: 'x', namespace: 'n' };
const ours = { metadata: { ...metadata, labels: { app: 'etcd', etcd_cluster: 'db' } } };
const other = { metadata: { ...metadata, labels: { app: 'shop' } } };
const bare = { metadata };
const owned = (group: string) => ({
  metadata: {
    ...metadata,
    ownerReferences: [{ apiVersion: `${group}/v1`, kind: 'EtcdCluster', name: 'db', uid: 'u' }],
  },
});
const refusal = (request: Omit<Request, 'user'>): string | undefined => policy.refusalOf({ user, ...request });

describe('the example ValidatingAdmissionPolicy', () => {
  it('has a binding that denies and audits', () => {
    expect(policy.documents.map(({ kind }) => kind)).toEqual([
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
    ]);
    expect(policy.documents[1]).toMatchObject({
      spec: { policyName: policy.name, validationActions: ['Deny', 'Audit'] },
    });
  });

  it('covers every built-in resource that the operator may write, except Events and Leases', () => {
    const kinds = ['coreos', 'improbable']
      .flatMap((api) => permissionsIn(`deploy/${api}/operator-roles.yaml`, 'ClusterRole'))
      .filter((right) => /^(create|update|patch|delete) /.test(right) && !/etcd\.|events/.test(right))
      .map((right) => right.replace(/^\S+ ([a-z]+).*$/, '$1'));
    expect(new Set(policy.resources)).toEqual(new Set(kinds));
  });

  it('lets the operator create, update and delete objects with its labels', () => {
    expect(refusal({ operation: 'CREATE', object: ours })).toBeUndefined();
    expect(refusal({ operation: 'UPDATE', object: ours, oldObject: ours })).toBeUndefined();
    expect(refusal({ operation: 'DELETE', oldObject: ours })).toBeUndefined();
  });

  it('denies the operator objects without its labels, and denies adding or removing these labels', () => {
    for (const foreign of [other, bare]) {
      expect(refusal({ operation: 'CREATE', object: foreign })).toContain(
        'may create only objects with its own labels',
      );
      expect(refusal({ operation: 'DELETE', oldObject: foreign })).toContain('may change and delete only');
      expect(refusal({ operation: 'UPDATE', object: foreign, oldObject: foreign })).toContain(
        'may change and delete only',
      );
      expect(refusal({ operation: 'UPDATE', object: ours, oldObject: foreign })).toContain(
        'may change and delete only',
      );
      expect(refusal({ operation: 'UPDATE', object: foreign, oldObject: ours })).toContain(
        'must keep at least one of them',
      );
    }
  });

  it('lets the operator restore lost labels only on objects that an EtcdCluster owns', () => {
    for (const group of ['etcd.database.coreos.com', 'etcd.improbable.io'])
      expect(refusal({ operation: 'UPDATE', object: ours, oldObject: owned(group) })).toBeUndefined();
    expect(refusal({ operation: 'UPDATE', object: ours, oldObject: owned('etcd.example.com') })).toBeDefined();
  });

  it('does not apply to other users', () => {
    expect(policy.refusalOf({ user: 'admin', operation: 'DELETE', oldObject: other })).toBeUndefined();
  });
});

/** Adds the cluster label, which real member objects have, to the objects of a scenario. */
function labelled({ objects, clusters }: Scenario): Scenario['objects'] {
  const labels = { [clusters.clusterLabel]: 'db' };
  const withLabels = (object: object): object => {
    const { metadata: given } = object as KubeObject;
    return { ...object, metadata: { ...given, labels: { ...labels, ...given.labels } } };
  };
  const parts = new Set(policy.resources);
  return Object.fromEntries(
    Object.entries(objects).map(([plural, those]) => [plural, parts.has(plural) ? those.map(withLabels) : those]),
  );
}

/** Runs a restore and returns the denials of its writes, and the number of checked writes. */
async function refusalsIn(
  scenario: Scenario,
): Promise<{ readonly refused: readonly string[]; readonly checked: number }> {
  const life = new SimulatedRestore({ ...scenario, objects: labelled(scenario) });
  const { writer } = life.objects;
  const refused: string[] = [];
  let checked = 0;
  const checkWrite = async (plural: string, name: string, write: () => Promise<void>): Promise<void> => {
    const [oldObject, isCovered] = [life.objects.find(plural, name), policy.resources.includes(plural)];
    await write();
    const object: StoredObject | undefined = life.objects.find(plural, name);
    if (!isCovered) return;
    checked++;
    const operation = oldObject === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE';
    const denial = refusal({ operation, object, oldObject });
    if (denial !== undefined) refused.push(`${operation} ${plural} ${name}: ${denial}`);
  };
  const checkingWriter: typeof writer = {
    create: (kind, object) => checkWrite(kind.plural, object.metadata.name, () => writer.create(kind, object)),
    patch: (kind, at, how) => checkWrite(kind.plural, at.name, () => writer.patch(kind, at, how)),
    remove: (kind, at) => checkWrite(kind.plural, at.name, () => writer.remove(kind, at)),
  };
  Object.assign(life.objects, { writer: checkingWriter });
  await life.run();
  return { refused, checked };
}

describe('the policy during a restore', () => {
  it.each(Object.entries({ replaced, createdByRestore, viaStoreProxy, replacedOrdinal, withManagedTls }))(
    'denies no write of the operator: %s',
    async (_, scenario) => {
      const { refused, checked } = await refusalsIn(scenario);
      expect(refused).toEqual([]);
      expect(checked).toBeGreaterThan(3);
    },
  );
});
