import { describe, expect, it } from 'vitest';
import { storiesTouched } from './touched.ts';

const stories = [
  { file: 'tls-managed.e2e.ts', text: "import { tlsCluster } from '../support/tls-cluster.ts';" },
  { file: 'backups.e2e.ts', text: "await kubectl('apply -f examples/coreos/three-operators.yaml');" },
  { file: 'upgrade.e2e.ts', text: "import { until } from '../support/until.ts';" },
];
const touched = (...changed: readonly string[]): readonly string[] => [...storiesTouched(changed, stories)];

describe('a change', () => {
  it('affects stories of its topic', () => {
    expect(touched('src/core/pki/renew.ts')).toEqual(['tls-managed.e2e.ts']);
    expect(touched('src/agent/save.ts', 'README.md')).toEqual(['backups.e2e.ts']);
    expect(touched('src/core/plan/roll-one.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('examples/coreos/etcd-backup-operator-crd.yaml')).toEqual(['backups.e2e.ts']);
  });

  it('in a controller does not affect the stories of rolling updates', () => {
    expect(touched('src/controllers/cluster/observe/observe.ts')).toEqual([]);
  });

  it('of a story affects that story; of docs it affects none', () => {
    expect(touched('test/e2e/upgrade.e2e.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('docs/guide/upgrades.md')).toEqual([]);
  });

  it('of test support or of an example affects the stories that name the file', () => {
    expect(touched('test/support/tls-cluster.ts')).toEqual(['tls-managed.e2e.ts']);
    expect(touched('test/support/until.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('examples/coreos/three-operators.yaml')).toEqual(['backups.e2e.ts']);
  });
});
