import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../src/kube/object.ts';
import { carried, certified, made, replaced, replacedByName } from './simulation/restore-tales.ts';
import type { Kept } from './simulation/simulated-objects.ts';
import { SimulatedRestore, type Tale } from './simulation/simulated-restore.ts';
import { AdmissionPolicy, type Request } from './support/admission-policy.ts';
import { rightsIn } from './support/roles.ts';

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

describe('the example of an admission policy', () => {
  it('is bound, and denies', () => {
    expect(policy.documents.map(({ kind }) => kind)).toEqual([
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
    ]);
    expect(policy.documents[1]).toMatchObject({
      spec: { policyName: policy.name, validationActions: ['Deny', 'Audit'] },
    });
  });

  it('watches over every built-in kind that the operator may write, but for Events and locks', () => {
    const kinds = ['coreos', 'improbable']
      .flatMap((api) => rightsIn(`deploy/${api}/operator-roles.yaml`, 'ClusterRole'))
      .filter((right) => /^(create|update|patch|delete) /.test(right) && !/etcd\.|events/.test(right))
      .map((right) => right.replace(/^\S+ ([a-z]+).*$/, '$1'));
    expect(new Set(policy.resources)).toEqual(new Set(kinds));
  });

  it('lets the operator do as it needs with objects that have its labels', () => {
    expect(refusal({ operation: 'CREATE', object: ours })).toBeUndefined();
    expect(refusal({ operation: 'UPDATE', object: ours, oldObject: ours })).toBeUndefined();
    expect(refusal({ operation: 'DELETE', oldObject: ours })).toBeUndefined();
  });

  it('refuses it other objects, and to take its labels off or put them on', () => {
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
        'may not take all of these off',
      );
    }
  });

  it('lets it put lost labels back on what a cluster owns, and on nothing else', () => {
    for (const group of ['etcd.database.coreos.com', 'etcd.improbable.io'])
      expect(refusal({ operation: 'UPDATE', object: ours, oldObject: owned(group) })).toBeUndefined();
    expect(refusal({ operation: 'UPDATE', object: ours, oldObject: owned('etcd.example.com') })).toBeDefined();
  });

  it('says nothing of others', () => {
    expect(policy.refusalOf({ user: 'admin', operation: 'DELETE', oldObject: other })).toBeUndefined();
  });
});

/** The tales leave the labels of members out, which real ones have. */
function labelled({ objects, clusters }: Tale): Tale['objects'] {
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

/** What the policy says against each write of the operator in the life of a restore. */
async function refusalsIn(tale: Tale): Promise<{ readonly refused: readonly string[]; readonly asked: number }> {
  const life = new SimulatedRestore({ ...tale, objects: labelled(tale) });
  const { writer } = life.objects;
  const refused: string[] = [];
  let asked = 0;
  const judged = async (plural: string, name: string, write: () => Promise<void>): Promise<void> => {
    const [oldObject, began] = [life.objects.find(plural, name), policy.resources.includes(plural)];
    await write();
    const object: Kept | undefined = life.objects.find(plural, name);
    if (!began) return;
    asked++;
    const operation = oldObject === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE';
    const why = refusal({ operation, object, oldObject });
    if (why !== undefined) refused.push(`${operation} ${plural} ${name}: ${why}`);
  };
  const judging: typeof writer = {
    create: (kind, object) => judged(kind.plural, object.metadata.name, () => writer.create(kind, object)),
    patch: (kind, at, how) => judged(kind.plural, at.name, () => writer.patch(kind, at, how)),
    remove: (kind, at) => judged(kind.plural, at.name, () => writer.remove(kind, at)),
  };
  Object.assign(life.objects, { writer: judging });
  await life.run();
  return { refused, asked };
}

describe('the policy in the whole life of a restore', () => {
  it.each(Object.entries({ replaced, made, carried, replacedByName, certified }))(
    'refuses no write of the operator: %s',
    async (_, tale) => {
      const { refused, asked } = await refusalsIn(tale);
      expect(refused).toEqual([]);
      expect(asked).toBeGreaterThan(3);
    },
  );
});
