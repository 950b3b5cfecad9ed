import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readEtcdCluster } from '../../src/apis/coreos-v1beta2/read.ts';
import { until } from '../support/until.ts';
import { coreosBench, done, type ManifestJson, root } from './crd-coreos-support.ts';

const { kubectl, namespace, apply, patch, offer, withNamespace } = coreosBench();
const established = { type: 'Established', status: 'True' };

const podOf = (spec: object): ManifestJson => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'trial' }, spec });

withNamespace();

describe('the manifests of the coreos API', () => {
  const files = (directory: string): readonly string[] =>
    readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .toSorted()
      .map((file) => join(root, directory, file));
  const objectsIn = (text: string): readonly ManifestJson[] =>
    parseAllDocuments(text).map((document) => document.toJS() as ManifestJson);
  const objectsOf = (file: string): readonly ManifestJson[] => objectsIn(readFileSync(join(root, file), 'utf8'));
  const applied = (object: ManifestJson): Promise<ManifestJson> => done(apply(object, '&dryRun=All'));

  it.each(files('examples/coreos'))('%s applies', async (file) => {
    for (const object of objectsIn(readFileSync(file, 'utf8'))) {
      const result = await applied(object);
      if (object['kind'] === 'EtcdCluster') expect(readEtcdCluster(result).ok).toBe(true);
      // The suite's setup installs the CRDs.
      if (object['kind'] === 'CustomResourceDefinition')
        expect(result).toMatchObject({
          status: { conditions: expect.arrayContaining([expect.objectContaining(established)]) },
        });
    }
  });

  // A dry run creates no namespace, so objects of etcd-operator are applied in the test's namespace.
  const inTestNamespace = (file: string): string =>
    readFileSync(file, 'utf8').replaceAll('namespace: etcd-operator', `namespace: ${namespace}`);

  const named = ['coreos', 'improbable'].flatMap((api) => files(`deploy/namespaces/${api}`));

  it.each([...files('deploy/coreos'), ...named])('%s applies', async (file) => {
    for (const object of objectsIn(inTestNamespace(file))) await applied(object);
  });

  it('apply with kubectl', async () => {
    const isDefinition = (file: string): boolean => file.endsWith('-crd.yaml');
    const examples = files('examples/coreos').filter((file) => !isDefinition(file));
    await kubectl(`apply --dry-run=server ${examples.map((file) => `-f ${file}`).join(' ')}`);
    const input = files('deploy/coreos').map(inTestNamespace).join('\n---\n');
    await kubectl('apply --dry-run=server -f -', { input });
  });

  it('give the cluster-wide operator the same rules as the namespaced one', () => {
    const rulesIn = (file: string): readonly string[] =>
      objectsOf(file)
        .flatMap(({ rules }) => (rules ?? []) as readonly unknown[])
        .map((rule) => JSON.stringify(rule));
    expect(rulesIn('deploy/coreos/operator-roles.yaml')).toEqual(rulesIn('examples/coreos/etcd-operator-role.yaml'));
  });

  it('have pods that a namespace with restricted Pod Security admits', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await done(patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } }));
    const unsafe = podOf({ containers: [{ name: 'one', image: 'busybox' }] });
    await until('the restricted level is enforced', async () => !(await offer(unsafe)).accepted || undefined);
    for (const file of ['examples/coreos/etcd-operator-deployment.yaml', 'deploy/coreos/operator-deployment.yaml']) {
      const { spec } = objectsOf(file)[0] as { spec: { template: { spec: object } } };
      const pod = podOf({ ...spec.template.spec, serviceAccountName: 'default' });
      expect(await offer(pod)).toMatchObject({ accepted: true });
    }
  });
});
