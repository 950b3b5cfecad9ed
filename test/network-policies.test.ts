import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { ClusterDialect } from '../src/apis/common/dialect.ts';
import { coreos } from '../src/apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../src/apis/improbable-v1alpha1/dialect.ts';
import { agentLabel } from '../src/controllers/shared/agent-pods.ts';
import type { MemberName } from '../src/core/cluster/model/names.ts';
import { ports } from '../src/core/cluster/model/template.ts';
import { progressPort, storeProxyPort } from '../src/core/manifests/agent-pod.ts';
import { memberPodManifest } from '../src/core/manifests/pod.ts';

const deploy = join(import.meta.dirname, '../deploy');

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string }[];
}
interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
}
interface Policy {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly ingress?: readonly {
      readonly from: readonly Peer[];
      readonly ports: readonly { readonly port: number }[];
    }[];
  };
}
interface PodPlace {
  readonly namespace: string;
  readonly labels: Labels;
}

const policiesIn = (file: string, cluster = ''): readonly Policy[] =>
  parseAllDocuments(readFileSync(join(deploy, file), 'utf8').replaceAll('CLUSTER', cluster)).map(
    (document) => document.toJSON() as Policy,
  );

/** Matches a label selector. Of matchExpressions only `Exists` is supported here. */
function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  for (const { operator } of matchExpressions) expect(operator).toBe('Exists');
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key }) => labels[key] !== undefined)
  );
}

const admits = (peer: Peer, home: string, { namespace, labels }: PodPlace): boolean =>
  (peer.namespaceSelector === undefined
    ? namespace === home
    : matches(peer.namespaceSelector, { 'kubernetes.io/metadata.name': namespace })) &&
  matches(peer.podSelector ?? {}, labels);

/** The ports of `to` that `from` can reach; 'all' if no policy selects `to`. */
function reachablePorts(policies: readonly Policy[], to: PodPlace, from: PodPlace): readonly number[] | 'all' {
  const selecting = policies.filter(({ spec }) => matches(spec.podSelector, to.labels));
  if (selecting.length === 0) return 'all';
  const open = selecting.flatMap(({ spec }) =>
    (spec.ingress ?? [])
      .filter((rule) => rule.from.some((peer) => admits(peer, to.namespace, from)))
      .flatMap((rule) => rule.ports.map(({ port }) => port)),
  );
  return [...new Set(open)].toSorted((a, b) => a - b);
}

/** A member pod with the labels that the operator sets. */
function memberOf(dialect: ClusterDialect, cluster: string): PodPlace {
  const spec = { size: 1, replicas: 1, version: '3.5.35' };
  const read = dialect.read({ metadata: { name: cluster, namespace: 'tenant', uid: 'u' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const name = `${cluster}-0` as MemberName;
  const join_ = { as: 'bootstrap', of: { members: [name], token: 't' } } as const;
  const pod = memberPodManifest(read.value.blueprint, { name, version: '3.5.35', join: join_ });
  return { namespace: 'tenant', labels: pod.metadata.labels };
}

interface Deployed {
  readonly metadata: { readonly namespace: string };
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Labels } } };
}

const operatorOf = (api: string): PodPlace => {
  const file = readFileSync(join(deploy, api, 'operator-deployment.yaml'), 'utf8');
  const [document] = parseAllDocuments(file);
  if (document === undefined) throw new Error(`deploy/${api} has no Deployment`);
  const { metadata, spec } = document.toJSON() as Deployed;
  return { namespace: metadata.namespace, labels: spec.template.metadata.labels };
};

describe.each([
  ['coreos', coreos],
  ['improbable', improbable],
] as const)('the NetworkPolicies for clusters of the %s API', (api, dialect) => {
  const policies = policiesIn(`network-policies/members-${api}.yaml`, 'db');
  const member = memberOf(dialect, 'db');
  const operator = operatorOf(api);
  const agent = (namespace: string): PodPlace => ({ namespace, labels: { [agentLabel(dialect.group)]: 'backup' } });

  it('select only the members of their cluster', () => {
    expect(reachablePorts(policies, member, member)).toEqual([ports.client, ports.peer]);
    expect(reachablePorts(policies, memberOf(dialect, 'other'), member)).toBe('all');
  });

  it('admit no members of another cluster, and none of the same name in another namespace', () => {
    expect(reachablePorts(policies, member, memberOf(dialect, 'other'))).toEqual([]);
    expect(reachablePorts(policies, member, { ...member, namespace: 'elsewhere' })).toEqual([]);
  });

  it('admit the deployed operator and agent pods', () => {
    expect(reachablePorts(policies, member, operator)).toEqual([ports.client, ports.peer]);
    expect(reachablePorts(policies, member, { ...operator, namespace: 'tenant' })).toEqual([]);
    for (const namespace of ['tenant', operator.namespace])
      expect(reachablePorts(policies, member, agent(namespace))).toEqual([ports.client]);
    expect(reachablePorts(policies, member, agent('elsewhere'))).toEqual([]);
  });

  it('admit clients with the label to the client port only', () => {
    const client = { namespace: 'tenant', labels: { 'etcd-client': 'db' } };
    expect(reachablePorts(policies, member, client)).toEqual([ports.client]);
    expect(reachablePorts(policies, member, { ...client, labels: {} })).toEqual([]);
    expect(reachablePorts(policies, member, { ...client, namespace: 'elsewhere' })).toEqual([]);
  });

  it('admit only the operator to agent pods', () => {
    const open = reachablePorts(policies, agent('tenant'), operator);
    expect(open).toEqual([ports.client, ports.peer, progressPort]);
    expect(reachablePorts(policies, agent('tenant'), member)).toEqual([]);
  });

  it("admit restore agents to store proxies in the operator's namespace", () => {
    const own = policiesIn('network-policies/operator.yaml');
    expect(own.every(({ metadata }) => metadata.namespace === operator.namespace)).toBe(true);
    expect(reachablePorts(own, agent(operator.namespace), agent('tenant'))).toEqual([storeProxyPort]);
    expect(reachablePorts(own, agent(operator.namespace), operator)).toEqual([progressPort]);
    expect(reachablePorts(own, operator, member)).toEqual([]);
    expect(reachablePorts(own, operator, { namespace: 'monitoring', labels: {} })).toEqual([8080]);
  });
});
