import { describe, expect, it } from 'vitest';
import type { MemberName } from '../../core/cluster/model/names.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import { memberPodManifest } from '../../core/manifests/pod.ts';
import { memberClaim } from '../../core/manifests/pvc.ts';
import { clientService, peerService } from '../../core/manifests/services.ts';
import { improbable } from './dialect.ts';

type Json = Readonly<Record<string, unknown>>;

function readOf(spec: Json, status: Json = {}) {
  const metadata = { name: 'my-etcd', namespace: 'foo', uid: 'u' };
  const read = improbable.read({ metadata, spec: { replicas: 3, ...spec }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}
const blueprintOf = (spec: Json): Blueprint => readOf(spec).blueprint;

const first = 'my-etcd-0' as MemberName;
const bootstrapMembers = ['my-etcd-0', 'my-etcd-1'] as MemberName[];

interface PodSpec {
  readonly hostname: string;
  readonly subdomain: string;
  readonly containers: readonly [
    {
      readonly image: string;
      readonly command: readonly string[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly ports: readonly { readonly name: string }[];
      readonly volumeMounts: readonly unknown[];
    },
  ];
}

const podOf = (spec: Json) =>
  memberPodManifest(blueprintOf(spec), {
    name: first,
    join: { as: 'bootstrap', of: { members: bootstrapMembers, token: 't' } },
    version: '3.6.16',
  });
const etcdOf = (spec: Json) => (podOf(spec).spec as unknown as PodSpec).containers[0];
const variable = (spec: Json, name: string) => etcdOf(spec).env.filter((entry) => entry.name === name);

describe('member pods', () => {
  it('have the names, labels and paths of the original', () => {
    const { metadata, spec } = podOf({});
    expect(metadata.labels).toEqual({
      'app.kubernetes.io/name': 'etcd',
      'etcd.improbable.io/cluster-name': 'my-etcd',
      'etcd.improbable.io/peer-name': 'my-etcd-0',
      'etcd.improbable.io/serving': 'true',
    });
    expect(spec).toMatchObject({ hostname: 'my-etcd-0', subdomain: 'my-etcd' });
    expect(metadata.annotations?.['etcd.improbable.io/initial-cluster']).toBe(
      'my-etcd-0=http://my-etcd-0.my-etcd.foo.svc:2380,my-etcd-1=http://my-etcd-1.my-etcd.foo.svc:2380',
    );
    expect(etcdOf({})).toMatchObject({ image: 'quay.io/coreos/etcd:v3.6.16' });
    expect(etcdOf({}).command).toContain('--data-dir=/var/lib/etcd');
    expect(etcdOf({}).volumeMounts).toContainEqual({ name: 'etcd-data', mountPath: '/var/lib/etcd' });
    expect(
      etcdOf({})
        .ports.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['etcd-client', 'etcd-peer']);
  });

  it('have the settings of podTemplate, and etcd settings as variables', () => {
    const spec = {
      quotaBackendBytes: 1_048_576,
      podTemplate: { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } }, priorityClassName: 'high' },
    };
    expect(podOf(spec).metadata.labels).toMatchObject({ team: 'a' });
    expect(podOf(spec).metadata.annotations).toMatchObject({ note: 'b' });
    expect(podOf(spec).spec).toMatchObject({ priorityClassName: 'high' });
    expect(variable(spec, 'ETCD_QUOTA_BACKEND_BYTES')).toEqual([
      { name: 'ETCD_QUOTA_BACKEND_BYTES', value: '1048576' },
    ]);
  });

  it.each([
    [undefined, []],
    [0, []],
    ['100m', ['1']],
    ['1', ['1']],
    ['1900m', ['1']],
    [2, ['2']],
    ['2.9', ['2']],
    ['16', ['16']],
  ])('with a CPU limit of %j have GOMAXPROCS %j', (cpu, values) => {
    const spec = { podTemplate: { resources: { limits: cpu === undefined ? {} : { cpu } } } };
    expect(variable(spec, 'GOMAXPROCS').map(({ value }) => value)).toEqual(values);
  });

  it('keep a GOMAXPROCS from etcdEnv', () => {
    const podTemplate = { resources: { limits: { cpu: 4 } }, etcdEnv: [{ name: 'GOMAXPROCS', value: '3' }] };
    expect(variable({ podTemplate }, 'GOMAXPROCS')).toEqual([{ name: 'GOMAXPROCS', value: '3' }]);
  });
});

describe('services', () => {
  it('have the names and ports of the original', () => {
    const { metadata, spec } = peerService(blueprintOf({}));
    expect(metadata.name).toBe('my-etcd');
    expect(spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      ports: [
        { name: 'etcd-client', port: 2379 },
        { name: 'etcd-peer', port: 2380 },
      ],
    });
    expect(clientService(blueprintOf({})).metadata.name).toBe('my-etcd-client');
  });

  it('have the port name etcd-client-ssl with static certificates, which makes clients use TLS', () => {
    const tls = { static: { member: { serverSecret: 's', peerSecret: 'p' }, operatorSecret: 'o' } };
    expect(peerService(blueprintOf({ tls })).spec).toMatchObject({ ports: [{ name: 'etcd-client-ssl' }, {}] });
    expect(blueprintOf({ tls }).intent.peerURLOf(first)).toBe('https://my-etcd-0.my-etcd.foo.svc:2380');
    expect(readOf({ tls }).operatorSecret?.name).toBe('o');
  });

  it('have the port name etcd-client-ssl with managed certificates, which members mount', () => {
    const tls = { managed: { certificateLifetimeHours: 24, rotate: 'now' }, acceptPlainClients: true };
    expect(peerService(blueprintOf({ tls })).spec).toMatchObject({ ports: [{ name: 'etcd-client-ssl' }, {}] });
    expect(readOf({ tls }).managedCertificates).toEqual({ lifetimeHours: 24, rotate: 'now' });
    const { template } = blueprintOf({ tls });
    expect([template.peerTLS?.secret, template.clientTLS?.secret]).toEqual([
      'my-etcd-member-tls',
      'my-etcd-member-tls',
    ]);
    expect(template.acceptsPlainClients).toBe(true);
    expect(readOf({}).managedCertificates).toBeUndefined();
  });
});

describe('volumes', () => {
  it('have an ownerReference only with volumeClaimPolicy Delete', () => {
    const ownersOf = (spec: Json) => memberClaim(blueprintOf(spec), first, '3.6.16')?.metadata.ownerReferences;
    expect(ownersOf({})).toEqual([]);
    expect(ownersOf({ storage: { volumeClaimPolicy: 'Delete' } })).toMatchObject([{ uid: 'u', controller: true }]);
  });

  it('have the spec of volumeClaimTemplate', () => {
    expect(memberClaim(blueprintOf({}), first, '3.6.16')).toMatchObject({
      metadata: { name: 'my-etcd-0', labels: { 'etcd.improbable.io/peer-name': 'my-etcd-0' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
  });
});

describe('the memory of a cluster', () => {
  it('is read from the status, also from a status of the original', () => {
    const bootstrap = { members: bootstrapMembers, token: 't' };
    const members = [
      { name: 'my-etcd-0', id: 'a', role: 'voter' },
      { name: 'my-etcd-1', id: 'b', role: 'learner' },
    ];
    expect(readOf({}, { bootstrap, clusterId: 'cafe', members }).memory).toEqual({
      bootstrap,
      clusterId: 'cafe',
      voters: ['my-etcd-0'],
    });
    const starting = { name: '', id: 'b' };
    const ofOriginal = { replicas: 1, members: [{ name: 'my-etcd-0', id: 'a' }, starting], clusterVersion: '3.2.0' };
    expect(readOf({}, ofOriginal).memory).toEqual({
      bootstrap: undefined,
      clusterId: undefined,
      voters: ['my-etcd-0'],
    });
  });
});
