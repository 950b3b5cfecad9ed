import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { declared } from '../support/cluster.ts';
import { kubectlUntil } from '../support/kubectl-watch.ts';
import { example, underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const files = ['crd', 'sa', 'role', 'rolebinding', 'deployment'].map((part) => `etcd-operator-${part}.yaml`);

/** The CRDs of the improbable API. They are removed during this story. */
const improbableCrds = ['clusters', 'peers', 'backups', 'backupschedules', 'restores'].map(
  (kinds) => `etcd${kinds}.etcd.improbable.io`,
);
const improbableCrdFiles = join(import.meta.dirname, '../../examples/improbable/crd');

/** Creates a directory with the manifests of the book. */
function bookDirectory(namespace: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'book-'));
  for (const file of [...files, 'etcd-cluster-cr.yaml'])
    writeFileSync(join(directory, file), withBookImage(example(file, namespace)));
  return directory;
}

/** On the lab and on our cluster, the image name of the book is our image. Elsewhere it would be the original. */
const withBookImage = (manifest: string): string =>
  process.env['IMAGE']
    ? underTest(manifest)
    : manifest.replace(/image: etcd-operator:.*/, 'image: quay.io/coreos/etcd-operator:v0.9.4');

/** Writes a one-line shell script as editor; returns its path. */
function editorOf(directory: string, line: string): string {
  const path = join(directory, 'editor');
  writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return path;
}

const webServer = "sh -c 'mkdir /www; echo hello > /www/index.html; exec httpd -f -h /www -p 8080'";

story('a Deployment is scaled and a deleted pod replaced, as in chapter 1 of the book', async ({ kubectl, step }) => {
  const running = async (): Promise<readonly string[]> =>
    (await kubectl('get pods')).match(/^staticweb-\w+-\w+(?= +1\/1 +Running)/gm) ?? [];
  await step('one replica runs', async () => {
    await kubectl(`create deployment staticweb --image=busybox -- ${webServer}`);
    await kubectl('rollout status deployment/staticweb --timeout=60s');
    expect(await running()).toHaveLength(1);
  });
  await step('scaled to three', async () => {
    expect(await kubectl('scale deployment staticweb --replicas=3')).toBe('deployment.apps/staticweb scaled\n');
    await kubectl('wait deployment/staticweb --for=jsonpath={.status.readyReplicas}=3 --timeout=60s');
    expect(await running()).toHaveLength(3);
  });
  await step('a deleted pod is replaced', async () => {
    const [victim = ''] = await running();
    await kubectl(`delete pod ${victim} --grace-period=1`);
    const after = await until('three run', async () => {
      const pods = await running();
      return pods.length === 3 ? pods : undefined;
    });
    expect(after).not.toContain(victim);
  });
});

story(
  'the commands of the book print what the book shows, from the CRD to the clean-up',
  async ({ kubectl, step, namespace }) => {
    const directory = bookDirectory(namespace);
    const file = (name: string): string => join(directory, name);
    const db = declared(kubectl, 'example-etcd-cluster');
    /** `kubectl run --rm -i --tty … -- /bin/sh`, with these lines typed at its prompt. */
    const shell = (...lines: readonly string[]): Promise<string> =>
      run(
        'script',
        [
          '-qec',
          `kubectl --namespace ${namespace} run --rm -i --tty etcdctl --image quay.io/coreos/etcd --restart=Never -- /bin/sh`,
          '/dev/null',
        ],
        { input: [...lines, 'exit', ''].join('\n') },
      );
    const upgradedTo = async (version: string): Promise<void> => {
      const what = `jsonpath={.status.currentVersion}=${version}`;
      await kubectl(`wait etcdcluster/example-etcd-cluster --for=${what} --timeout=180s`);
      await db.settled(4);
    };
    try {
      await kubectl(`delete crd etcdclusters.etcd.database.coreos.com ${improbableCrds.join(' ')} --ignore-not-found`);
      await step('the CRD is created', async () => {
        expect(await kubectl(`create -f ${file('etcd-operator-crd.yaml')}`)).toBe(
          'customresourcedefinition.apiextensions.k8s.io/etcdclusters.etcd.database.coreos.com created\n',
        );
        expect(await kubectl('get crd')).toContain('etcdclusters.etcd.database.coreos.com');
      });
      await step('the ServiceAccount, Role and RoleBinding are created', async () => {
        expect(await kubectl(`create -f ${file('etcd-operator-sa.yaml')}`)).toBe(
          'serviceaccount/etcd-operator-sa created\n',
        );
        expect(await kubectl('get serviceaccounts')).toContain('etcd-operator-sa');
        expect(await kubectl(`create -f ${file('etcd-operator-role.yaml')}`)).toBe(
          'role.rbac.authorization.k8s.io/etcd-operator-role created\n',
        );
        expect(await kubectl(`create -f ${file('etcd-operator-rolebinding.yaml')}`)).toBe(
          'rolebinding.rbac.authorization.k8s.io/etcd-operator-rolebinding created\n',
        );
      });
      await step('the operator is deployed', async () => {
        expect(await kubectl(`create -f ${file('etcd-operator-deployment.yaml')}`)).toBe(
          'deployment.apps/etcd-operator created\n',
        );
        await kubectl('rollout status deployment/etcd-operator --timeout=60s');
        expect(await kubectl('get deployments')).toMatch(/etcd-operator\s+1\/1/);
      });
      await step('an EtcdCluster becomes three members of etcd 3.1.10', async () => {
        expect(await kubectl(`create -f ${file('etcd-cluster-cr.yaml')}`)).toBe(
          'etcdcluster.etcd.database.coreos.com/example-etcd-cluster created\n',
        );
        const running = /^example-etcd-cluster-[a-z0-9]{10}(?= +1\/1 +Running)/gm;
        await kubectlUntil(
          ['--namespace', namespace, 'get', 'pods', '-w'],
          (shown) => new Set(shown.match(running)).size === 3,
        );
        await db.settled(3);
        const described = await kubectl('describe etcdcluster/example-etcd-cluster');
        for (const shown of [
          /API Version: +etcd.database.coreos.com\/v1beta2/,
          /Repository: +quay.io\/coreos\/etcd/,
          /Version: +3.1.10/,
          /Client Port: +2379/,
          /Reason: +Cluster available\n +Status: +True\n +Type: +Available/,
          /Current Version: +3.1.10/,
          /Phase: +Running/,
          /Service Name: +example-etcd-cluster-client/,
        ]) {
          expect(described).toMatch(shown);
        }
        for (const pod of await db.podNames()) expect(pod).toMatch(/^example-etcd-cluster-[a-z0-9]{10}$/);
      });
      await step('the Services exist', async () => {
        const services = await kubectl('get services --selector etcd_cluster=example-etcd-cluster');
        expect(services).toMatch(/example-etcd-cluster +ClusterIP +None .* 2379\/TCP,2380\/TCP/);
        expect(services).toMatch(/example-etcd-cluster-client +ClusterIP +10\..* 2379\/TCP/);
      });
      await step('a key is put and got from a shell in the cluster', async () => {
        // The Service has endpoints a moment after the members are ready.
        await until('the Service leads to members', async () => {
          const output = await shell(
            'export ETCDCTL_API=3',
            'export ETCDCSVC=http://example-etcd-cluster-client:2379',
            'etcdctl --endpoints $ETCDCSVC put foo bar',
            'etcdctl --endpoints $ETCDCSVC get foo',
          );
          expect(output).toMatch(/OK[\s\S]*foo\r?\nbar/);
          return true;
        });
      });
      await step('the size is changed from 3 to 4 with kubectl apply', async () => {
        writeFileSync(
          file('etcd-cluster-cr.yaml'),
          readFileSync(file('etcd-cluster-cr.yaml'), 'utf8').replace('size: 3', 'size: 4'),
        );
        expect(await kubectl(`apply -f ${file('etcd-cluster-cr.yaml')}`)).toBe(
          'etcdcluster.etcd.database.coreos.com/example-etcd-cluster configured\n',
        );
        await db.settled(4);
      });
      await step('the size is changed to 5 and 4 with kubectl edit', async () => {
        for (const [from, to] of [
          [4, 5],
          [5, 4],
        ] as const) {
          process.env['EDITOR'] = editorOf(directory, `sed -i 's/^  size: ${from}$/  size: ${to}/' "$1"`);
          expect(await kubectl('edit etcdcluster/example-etcd-cluster')).toBe(
            'etcdcluster.etcd.database.coreos.com/example-etcd-cluster edited\n',
          );
          await db.settled(to);
        }
      });
      const [victim = ''] = await db.podNames();
      await step('a deleted pod is replaced, and Events report it', async () => {
        expect(await kubectl('get pods -l app=etcd')).toContain(victim);
        expect(await kubectl(`delete pod ${victim}`)).toContain(`pod "${victim}" deleted`);
        await db.replaced(victim, 4);
        await until('kubectl describe shows both Events', async () => {
          const described = await kubectl('describe etcdcluster/example-etcd-cluster');
          const shows = (reason: string, message: string): boolean =>
            new RegExp(`Normal +${reason} .* etcd-operator-\\S+ +${message}`).test(described);
          const isReplaced = shows('Replacing Dead Member', `The dead member ${victim} is being replaced`);
          const isRemoved = shows('Member Removed', `Existing member ${victim} removed from the cluster`);
          return (isReplaced && isRemoved) || undefined;
        });
      });
      await step('the cluster is healthy and has the key', async () => {
        const output = await shell(
          'etcdctl --endpoints http://example-etcd-cluster-client:2379 cluster-health',
          'ETCDCTL_API=3 etcdctl --endpoints http://example-etcd-cluster-client:2379 get foo',
        );
        expect(output.match(/member [0-9a-f]+ is healthy: got healthy result/g)).toHaveLength(4);
        expect(output).toContain('cluster is healthy');
        expect(output).toMatch(/foo\r?\nbar/);
        expect(output).toContain('pod "etcdctl" deleted');
      });
      await step('the version is changed from 3.1.10 to 3.2.13 with kubectl apply', async () => {
        const [pod = ''] = await db.podNames();
        const typed = `kubectl get pod ${pod} -o yaml | grep "image:" | uniq`;
        const images = await run('sh', ['-c', typed.replace('kubectl', `kubectl --namespace ${namespace}`)]);
        expect(images).toMatch(/^ +(- )?image: quay.io\/coreos\/etcd:v3.1.10$/m);
        expect(images.match(/etcd:v(?!3\.1\.10$).*$/m)).toBeNull();
        writeFileSync(
          file('etcd-cluster-cr.yaml'),
          readFileSync(file('etcd-cluster-cr.yaml'), 'utf8').replace('3.1.10', '3.2.13'),
        );
        await kubectl(`apply -f ${file('etcd-cluster-cr.yaml')}`);
        await kubectl('wait etcdcluster/example-etcd-cluster --for=condition=Upgrading --timeout=30s');
        const described = await kubectl('describe etcdcluster/example-etcd-cluster');
        for (const shown of [
          /Message: +upgrading to 3.2.13\n +Reason: +Cluster upgrading\n +Status: +True\n +Type: +Upgrading/,
          /Current Version: +3.1.10/,
          /Target Version: +3.2.13/,
        ]) {
          expect(described).toMatch(shown);
        }
        await upgradedTo('3.2.13');
      });
      await step('the version is changed to 3.3.12 with the kubectl patch of the book', async () => {
        await kubectl(
          `patch etcdcluster example-etcd-cluster --type='json' -p '[{"op": "replace", "path": "/spec/version", "value":3.3.12}]'`,
        );
        await upgradedTo('3.3.12');
        const described = await kubectl('describe etcdcluster/example-etcd-cluster');
        for (const [from, to] of [
          ['3.1.10', '3.2.13'],
          ['3.2.13', '3.3.12'],
        ])
          expect(described).toMatch(
            new RegExp(
              `Normal +Member Upgraded .* Member example-etcd-cluster-[a-z0-9]{10} upgraded from ${from} to ${to}`,
            ),
          );
        expect(described).toMatch(/Current Version: +3.3.12/);
      });
      await step('the clean-up in the order of the book leaves no object', async () => {
        for (const name of ['sa', 'role', 'rolebinding', 'crd', 'deployment'])
          await kubectl(`delete -f ${file(`etcd-operator-${name}.yaml`)}`);
        expect(await kubectl.refused(`delete -f ${file('etcd-cluster-cr.yaml')}`)).toMatch(
          /NotFound|no matches for kind/,
        );
        await kubectl('wait pods --all --for=delete --timeout=60s');
        const kinds = 'services,poddisruptionbudgets,persistentvolumeclaims,secrets,deployments,replicasets';
        await until('no other object is left', async () =>
          (await kubectl(`get ${kinds} -o name`)) === '' ? true : undefined,
        );
      });
    } finally {
      await kubectl(`apply --server-side -f ${file('etcd-operator-crd.yaml')}`);
      await kubectl(`apply --server-side -k ${improbableCrdFiles}`);
      rmSync(directory, { recursive: true });
    }
  },
);
