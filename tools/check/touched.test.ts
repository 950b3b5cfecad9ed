import { describe, expect, it } from 'vitest';
import { storiesTouched } from './touched.ts';

const stories = [
  { file: 'tls-managed.e2e.ts', text: "import { tlsCluster } from '../support/tls-cluster.ts';" },
  { file: 'backups.e2e.ts', text: "await kubectl('apply -f examples/coreos/three-operators.yaml');" },
  { file: 'upgrade.e2e.ts', text: "import { until } from '../support/until.ts';" },
];
const touched = (...changed: readonly string[]): readonly string[] => [...storiesTouched(changed, stories)];

describe('a change', () => {
  it('reaches stories of its topic', () => {
    expect(touched('src/core/pki/renew.ts')).toEqual(['tls-managed.e2e.ts']);
    expect(touched('src/agents/save.ts', 'README.md')).toEqual(['backups.e2e.ts']);
    expect(touched('src/core/plan/roll-one.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('examples/coreos/etcd-backup-operator-crd.yaml')).toEqual(['backups.e2e.ts']);
  });

  it('of any controller is no change of how members are rolled', () => {
    expect(touched('src/controllers/cluster/observe.ts')).toEqual([]);
  });

  it('of a story reaches that story, and of docs none', () => {
    expect(touched('test/e2e/upgrade.e2e.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('docs/guide/upgrades.md')).toEqual([]);
  });

  it('of what stories share, or of an example, reaches the stories that name it', () => {
    expect(touched('test/support/tls-cluster.ts')).toEqual(['tls-managed.e2e.ts']);
    expect(touched('test/support/until.ts')).toEqual(['upgrade.e2e.ts']);
    expect(touched('examples/coreos/three-operators.yaml')).toEqual(['backups.e2e.ts']);
  });
});
