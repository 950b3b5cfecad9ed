import { expect } from 'vitest';
import { run } from '../../tools/lib/run.ts';
import { declared } from '../support/cluster.ts';
import { guideReader } from '../support/guide-reader.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';

const crds = [
  ...['clusters', 'backups', 'restores'].map((kinds) => `etcd${kinds}.etcd.database.coreos.com`),
  ...['clusters', 'peers', 'backups', 'backupschedules', 'restores'].map((kinds) => `etcd${kinds}.etcd.improbable.io`),
];
/** The namespaces of the manifests below deploy/. */
const otherNamespaces = ['etcd-operator', 'team-a', 'team-b'];

story.asOnTheLab('the commands of README and of the guides install the operator', async (context) => {
  const { kubectl } = context;
  using reader = await guideReader(context);
  const files = (...names: readonly string[]): string =>
    names.map((name) => `-f ${reader.directory}/${name}`).join(' ');
  const ofOperator = (api: string): readonly string[] =>
    ['sa', 'role', 'rolebinding', 'deployment'].map((part) => `examples/${api}/etcd-operator-${part}.yaml`);
  /** Removes an installation: each section of the pages begins without one. */
  const uninstall = async (): Promise<void> => {
    await kubectl(`delete ${files(...ofOperator('coreos'), ...ofOperator('improbable'))} --ignore-not-found`);
    await kubectl(`delete crd ${crds.join(' ')} --ignore-not-found`);
    await kubectl(`delete namespace ${otherNamespaces.join(' ')} --ignore-not-found`);
  };
  const withTeams = async (): Promise<void> => {
    await uninstall();
    for (const team of ['team-a', 'team-b']) await kubectl(`create namespace ${team}`);
  };
  const isReady = async (namespace?: string): Promise<void> =>
    void (await kubectl('rollout status deployment/etcd-operator --timeout=60s', {}, namespace));
  const isReadyElsewhere = (): Promise<void> => isReady('etcd-operator');
  try {
    await uninstall();
    await reader.follow('README.md', {
      'Install on a cluster': { after: () => declared(kubectl, 'etcd-cluster').settled(3) },
    });
    await reader.follow('docs/guide/install.md', {
      'One namespace': [
        { before: uninstall, after: () => isReady() },
        { before: uninstall, after: () => isReady() },
      ],
      'All namespaces': [
        { before: uninstall, after: isReadyElsewhere },
        { before: uninstall, after: isReadyElsewhere },
      ],
      'Some namespaces': { before: withTeams, after: isReadyElsewhere },
      'Both APIs': {
        before: async () => {
          await uninstall();
          await run('kubectl', [
            'apply',
            '--server-side',
            '-f',
            `${reader.directory}/examples/coreos/etcd-operator-crd.yaml`,
          ]);
          await installOperator(context);
        },
      },
      'Check the installation': { after: (output) => expect(output).toMatch(/successfully rolled out[\s\S]*watching/) },
    });
    await reader.follow('docs/guide/namespaces.md', {
      'Named namespaces, with RoleBindings only': { before: withTeams, after: isReadyElsewhere },
    });
  } finally {
    const remove = (...args: readonly string[]): Promise<string> =>
      run('kubectl', ['delete', ...args, '--ignore-not-found'], { cwd: reader.directory });
    await remove('-k', 'deploy/improbable');
    await remove('-f', 'deploy/coreos', '-f', 'deploy/namespaces/coreos');
    await uninstall();
    await kubectl(
      `apply --server-side ${files('examples/coreos/etcd-operator-crd.yaml', 'examples/coreos/etcd-backup-operator-crd.yaml', 'examples/coreos/etcd-restore-operator-crd.yaml')}`,
    );
    await kubectl(`apply --server-side -k ${reader.directory}/examples/improbable/crd`);
  }
});
