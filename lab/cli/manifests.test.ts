import { describe, expect, it } from 'vitest';
import { dialectsOf, operatorManifests, withDialects } from './manifests.ts';

const namesOf = async (dialects: Parameters<typeof operatorManifests>[0]): Promise<readonly string[]> =>
  (await operatorManifests(dialects)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const commandOf = async (dialects: Parameters<typeof operatorManifests>[0]): Promise<unknown> => {
  const deployment = (await operatorManifests(dialects)).find(({ kind }) => kind === 'Deployment');
  return JSON.parse(JSON.stringify(deployment)).spec.template.spec.containers[0].command as unknown;
};

/** The flags for a single user: serve all namespaces, restrict no spec. */
const singleUserFlags = [
  '--namespaces=*',
  '--allowed-value-from=*',
  '--allowed-repositories=*',
  '--allowed-service-accounts=*',
  '--allowed-uids=*',
];

describe('the manifests of the operator', () => {
  it("are the book's files, cluster-wide, with those for backups and restores", async () => {
    expect(await namesOf(['coreos'])).toEqual([
      'CustomResourceDefinition etcdclusters.etcd.database.coreos.com',
      'CustomResourceDefinition etcdbackups.etcd.database.coreos.com',
      'CustomResourceDefinition etcdrestores.etcd.database.coreos.com',
      'ServiceAccount etcd-operator-sa',
      'ClusterRole etcd-operator-role',
      'ClusterRoleBinding etcd-operator-rolebinding',
      'Deployment etcd-operator',
    ]);
    expect(await commandOf(['coreos'])).toEqual(['etcd-operator', '--create-crd=false', ...singleUserFlags]);
  });

  it('for two dialects have the definitions of both, and an operator with --dialects', async () => {
    const names = await namesOf(['coreos', 'improbable']);
    expect(names).toContain('CustomResourceDefinition etcdclusters.etcd.improbable.io');
    expect(names).toContain('CustomResourceDefinition etcdpeers.etcd.improbable.io');
    expect(names).toContain('CustomResourceDefinition etcdrestores.etcd.improbable.io');
    expect(names).toContain('ClusterRole etcd-operator-role-improbable');
    expect(names).toContain('ClusterRoleBinding etcd-operator-rolebinding-improbable');
    expect(await commandOf(['coreos', 'improbable'])).toContain('--dialects=coreos,improbable');
  });

  it('for the improbable dialect take only the ServiceAccount and the Deployment from coreos', async () => {
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
      ...singleUserFlags,
      '--dialects=improbable',
    ]);
  });

  it('have the same flags after a dialect is added twice', async () => {
    const deployment = (await operatorManifests(['improbable'])).find(({ kind }) => kind === 'Deployment');
    if (deployment === undefined) throw new Error('there is no Deployment');
    expect(dialectsOf(deployment)).toEqual(['improbable']);
    const twice = withDialects(withDialects(deployment, ['coreos', 'improbable']), ['coreos', 'improbable']);
    expect(dialectsOf(twice)).toEqual(['coreos', 'improbable']);
    expect(JSON.stringify(twice).match(/--namespaces=\*/g)).toHaveLength(1);
  });
});
