import { describe, expect, it } from 'vitest';
import { operatorManifests, servedBy, serving } from './manifests.ts';

const namesOf = async (dialects: Parameters<typeof operatorManifests>[0]): Promise<readonly string[]> =>
  (await operatorManifests(dialects)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const commandOf = async (dialects: Parameters<typeof operatorManifests>[0]): Promise<unknown> => {
  const deployment = (await operatorManifests(dialects)).find(({ kind }) => kind === 'Deployment');
  return JSON.parse(JSON.stringify(deployment)).spec.template.spec.containers[0].command as unknown;
};

/** The lab serves all namespaces, and restricts no spec. */
const forOneUser = [
  '--namespaces=*',
  '--allowed-value-from=*',
  '--allowed-repositories=*',
  '--allowed-service-accounts=*',
  '--allowed-uids=*',
];

describe('what the lab begins with', () => {
  it("is the book's files, for all namespaces, and what backups and restores need", async () => {
    expect(await namesOf(['coreos'])).toEqual([
      'CustomResourceDefinition etcdclusters.etcd.database.coreos.com',
      'CustomResourceDefinition etcdbackups.etcd.database.coreos.com',
      'CustomResourceDefinition etcdrestores.etcd.database.coreos.com',
      'ServiceAccount etcd-operator-sa',
      'ClusterRole etcd-operator-role',
      'ClusterRoleBinding etcd-operator-rolebinding',
      'Deployment etcd-operator',
    ]);
    expect(await commandOf(['coreos'])).toEqual(['etcd-operator', '--create-crd=false', ...forOneUser]);
  });

  it('has the definitions of another dialect that is asked for, and an operator that is told of it', async () => {
    const names = await namesOf(['coreos', 'improbable']);
    expect(names).toContain('CustomResourceDefinition etcdclusters.etcd.improbable.io');
    expect(names).toContain('CustomResourceDefinition etcdpeers.etcd.improbable.io');
    expect(names).toContain('CustomResourceDefinition etcdrestores.etcd.improbable.io');
    expect(names).toContain('ClusterRole etcd-operator-role-improbable');
    expect(names).toContain('ClusterRoleBinding etcd-operator-rolebinding-improbable');
    expect(await commandOf(['coreos', 'improbable'])).toContain('--dialects=coreos,improbable');
  });

  it('has nothing of the first dialect but its account and its Deployment, where only another is asked for', async () => {
    const names = await namesOf(['improbable']);
    expect(names.filter((name) => name.includes('coreos'))).toEqual([]);
    expect(names.filter((name) => !name.startsWith('CustomResourceDefinition'))).toEqual([
      'ServiceAccount etcd-operator-sa',
      'ClusterRole etcd-operator-role-improbable',
      'ClusterRoleBinding etcd-operator-rolebinding-improbable',
      'Deployment etcd-operator',
    ]);
    expect(await commandOf(['improbable'])).toEqual([
      'etcd-operator',
      '--create-crd=false',
      ...forOneUser,
      '--dialects=improbable',
    ]);
  });

  it('tells an operator of further dialects only once', async () => {
    const deployment = (await operatorManifests(['improbable'])).find(({ kind }) => kind === 'Deployment');
    if (deployment === undefined) throw new Error('there is no Deployment');
    expect(servedBy(deployment)).toEqual(['improbable']);
    const twice = serving(serving(deployment, ['coreos', 'improbable']), ['coreos', 'improbable']);
    expect(servedBy(twice)).toEqual(['coreos', 'improbable']);
    expect(JSON.stringify(twice).match(/--namespaces=\*/g)).toHaveLength(1);
  });
});
