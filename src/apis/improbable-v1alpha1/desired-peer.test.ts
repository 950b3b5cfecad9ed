import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { nameOf } from '../../../test/support/worlds.ts';
import type { Join } from '../../core/cluster/plan/step.ts';
import { desiredPeer } from './desired-peer.ts';
import { readEtcdCluster, readEtcdPeer } from './read.ts';

const example = (file: string): { metadata: object; spec: Record<string, unknown> } =>
  parse(readFileSync(join(import.meta.dirname, '../../../examples/improbable', file), 'utf8'));

const { metadata, ...rest } = example('my-etcd.yaml');
const read = readEtcdCluster({ ...rest, metadata: { ...metadata, namespace: 'foo', uid: 'u' } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const cluster = read.value;

const names = [0, 1, 2].map((ordinal) => nameOf(`my-etcd-${ordinal}`));
const peerOf = (as: Join) =>
  desiredPeer(cluster, { name: nameOf('my-etcd-0'), join: as, version: '3.7.3' }, [nameOf('my-etcd-1')]);

describe('the EtcdPeer of a member', () => {
  it('of a bootstrap member equals the original’s example', () => {
    const made = peerOf({ as: 'bootstrap', of: { members: names, token: 't' } });
    expect(made.spec).toMatchObject(example('my-etcd-0.yaml').spec);
    expect(made.metadata).toMatchObject({ name: 'my-etcd-0', namespace: 'foo', ownerReferences: [{ uid: 'u' }] });
  });

  it.each<[string, Join, readonly string[]]>([
    [
      'joining',
      { as: 'joining', among: names.map((name) => ({ name, peerURL: '' })) },
      ['my-etcd-0', 'my-etcd-1', 'my-etcd-2'],
    ],
    ['restarting', { as: 'restarting' }, ['my-etcd-1', 'my-etcd-0']],
  ])('of a %s member has the state Existing and the known members', (_, as, listed) => {
    const { bootstrap } = peerOf(as).spec as { bootstrap: { static: { initialCluster: { name: string }[] } } };
    expect(bootstrap).toMatchObject({ initialClusterState: 'Existing' });
    expect(bootstrap.static.initialCluster.map(({ name }) => name)).toEqual(listed);
  });

  it('is a valid EtcdPeer', () => {
    const made = peerOf({ as: 'bootstrap', of: { members: names, token: 't' } });
    const stored = { ...made, metadata: { ...made.metadata, uid: 'v' } };
    expect(readEtcdPeer(stored)).toMatchObject({ ok: true, value: { spec: { storage: cluster.spec.storage } } });
  });
});
