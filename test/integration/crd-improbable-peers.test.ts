import { describe, expect, it } from 'vitest';
import { accepted, type Case, done, etcdPeer, improbableBench, refusal, refused } from './crd-improbable-support.ts';

const member = { name: 'my-etcd-0', host: 'my-etcd-0.my-etcd.foo.svc' };
const newCluster = (...initialCluster: readonly object[]) => ({
  initialClusterState: 'New',
  static: { initialCluster },
});
const listing = (...members: readonly object[]) => etcdPeer({ bootstrap: newCluster(...members) });

const peers: readonly Case[] = [
  ['a peer without bootstrap', etcdPeer({}), accepted('the sample of the original has none; the peer is no member')],
  ['a peer as in the talk', listing(member), accepted()],
  ['no cluster', etcdPeer({ clusterName: null }), refused('spec.clusterName: Required value')],
  ['an invalid cluster name', etcdPeer({ clusterName: 'a.b' }), refused('must be the name of a cluster')],
  ['a name of 64 letters', etcdPeer({}, { name: 'a'.repeat(64) }), refused('peer name cannot be more than 63')],
  [
    'a bootstrap without state',
    etcdPeer({ bootstrap: {} }),
    refused('spec.bootstrap.initialClusterState: Required value'),
  ],
  [
    'a lower-case state',
    etcdPeer({ bootstrap: { initialClusterState: 'new' } }),
    refused('spec.bootstrap.initialClusterState: Unsupported value: "new"'),
  ],
  ['an empty list', listing(), refused('spec.bootstrap.static.initialCluster: Invalid value')],
  ['a list with a URL', listing({ ...member, host: 'http://a:2380' }), refused('must be a host name')],
  ['a name twice', listing(member, member), refused('spec.bootstrap.static.initialCluster[1]: Duplicate value')],
  ['a version of etcd 2', etcdPeer({ version: '2.3.8' }), refused('only Etcd version 3 is supported')],
];

const { withNamespace, judgePeers, create, patch, namespace } = improbableBench();
withNamespace();
judgePeers({ peers });

describe('an update of an EtcdPeer', () => {
  const patched = (name: string, change: object) =>
    patch(`/apis/etcd.improbable.io/v1alpha1/namespaces/${namespace}/etcdpeers/${name}`, change);
  const changed = (name: string, spec: object) => patched(name, { spec });
  const made = (name: string, spec: object) => done(create(etcdPeer({ ...spec }, { name })));
  const grown = (storage: string) => ({ storage: { volumeClaimTemplate: { resources: { requests: { storage } } } } });

  it('cannot change its cluster or its bootstrap', async () => {
    await made('fixed-0', { bootstrap: newCluster(member) });
    const refusals: readonly (readonly [object, string])[] = [
      [{ clusterName: 'other' }, 'Unsupported changes: clusterName cannot be changed'],
      [{ bootstrap: { initialClusterState: 'Existing' } }, 'Unsupported changes: bootstrap cannot be changed'],
      [{ bootstrap: null }, 'Unsupported changes: bootstrap cannot be changed'],
      [{ bootstrap: { static: { initialCluster: [{ ...member, host: 'b' }] } } }, 'bootstrap cannot be changed'],
    ];
    for (const [change, message] of refusals) expect(await refusal(changed('fixed-0', change))).toContain(message);
    await made('fixed-1', {});
    expect(await refusal(changed('fixed-1', { bootstrap: newCluster(member) }))).toContain('bootstrap');
  });

  it('can change storage size, version, pod template and metadata; storage cannot shrink', async () => {
    await made('growing-0', { bootstrap: newCluster(member) });
    const change = { ...grown('2Gi'), version: '3.6.16', podTemplate: { tolerations: [] } };
    await done(changed('growing-0', change));
    await done(patched('growing-0', { metadata: { annotations: { note: 'mine' } } }));
    expect(await refusal(changed('growing-0', grown('1Gi')))).toContain('a volume can grow but not shrink');
  });
});
