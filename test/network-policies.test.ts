import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { agentLabel } from '../src/controllers/agents/agent-of-pod.ts';
import { courierPort, progressPort } from '../src/core/desired/agent-pod.ts';
import { memberPod } from '../src/core/desired/pod.ts';
import type { CarrierName } from '../src/core/model/names.ts';
import { ports } from '../src/core/model/template.ts';
import { coreos } from '../src/dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from '../src/dialects/dialect.ts';
import { improbable } from '../src/dialects/improbable-v1alpha1/dialect.ts';

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
interface Place {
  readonly namespace: string;
  readonly labels: Labels;
}

const policiesIn = (file: string, cluster = ''): readonly Policy[] =>
  parseAllDocuments(readFileSync(join(deploy, file), 'utf8').replaceAll('CLUSTER', cluster)).map(
    (document) => document.toJSON() as Policy,
  );

/** As Kubernetes reads it; an operator that it does not know here fails the test. */
function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  for (const { operator } of matchExpressions) expect(operator).toBe('Exists');
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key }) => labels[key] !== undefined)
  );
}

const letsIn = (peer: Peer, home: string, { namespace, labels }: Place): boolean =>
  (peer.namespaceSelector === undefined
    ? namespace === home
    : matches(peer.namespaceSelector, { 'kubernetes.io/metadata.name': namespace })) &&
  matches(peer.podSelector ?? {}, labels);

/** To which ports of `to` some pod gets, by the policies of the namespace; every port where none selects it. */
function reached(policies: readonly Policy[], to: Place, from: Place): readonly number[] | 'all' {
  const selecting = policies.filter(({ spec }) => matches(spec.podSelector, to.labels));
  if (selecting.length === 0) return 'all';
  const open = selecting.flatMap(({ spec }) =>
    (spec.ingress ?? [])
      .filter((rule) => rule.from.some((peer) => letsIn(peer, to.namespace, from)))
      .flatMap((rule) => rule.ports.map(({ port }) => port)),
  );
  return [...new Set(open)].toSorted((a, b) => a - b);
}

/** The labels that the operator really puts on a member's pod. */
function memberOf(dialect: ClusterDialect, cluster: string): Place {
  const spec = { size: 1, replicas: 1, version: '3.5.35' };
  const read = dialect.read({ metadata: { name: cluster, namespace: 'tenant', uid: 'u' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const name = `${cluster}-0` as CarrierName;
  const join_ = { as: 'founder', of: { members: [name], token: 't' } } as const;
  const pod = memberPod(read.value.blueprint, { name, version: '3.5.35', join: join_ });
  return { namespace: 'tenant', labels: pod.metadata.labels };
}

interface Deployed {
  readonly metadata: { readonly namespace: string };
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Labels } } };
}

const operatorOf = (api: string): Place => {
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
  const agent = (namespace: string): Place => ({ namespace, labels: { [agentLabel(dialect.group)]: 'backup' } });

  it('select the members of their cluster, and of no other', () => {
    expect(reached(policies, member, member)).toEqual([ports.client, ports.peer]);
    expect(reached(policies, memberOf(dialect, 'other'), member)).toBe('all');
  });

  it('let members of another cluster in nowhere, nor those of the same name elsewhere', () => {
    expect(reached(policies, member, memberOf(dialect, 'other'))).toEqual([]);
    expect(reached(policies, member, { ...member, namespace: 'elsewhere' })).toEqual([]);
  });

  it('let in the operator as it is deployed, and agents', () => {
    expect(reached(policies, member, operator)).toEqual([ports.client, ports.peer]);
    expect(reached(policies, member, { ...operator, namespace: 'tenant' })).toEqual([]);
    for (const namespace of ['tenant', operator.namespace])
      expect(reached(policies, member, agent(namespace))).toEqual([ports.client]);
    expect(reached(policies, member, agent('elsewhere'))).toEqual([]);
  });

  it('let in clients that have the label, to the port for clients', () => {
    const client = { namespace: 'tenant', labels: { 'etcd-client': 'db' } };
    expect(reached(policies, member, client)).toEqual([ports.client]);
    expect(reached(policies, member, { ...client, labels: {} })).toEqual([]);
    expect(reached(policies, member, { ...client, namespace: 'elsewhere' })).toEqual([]);
  });

  it('let only the operator reach agents', () => {
    const open = reached(policies, agent('tenant'), operator);
    expect(open).toEqual([ports.client, ports.peer, progressPort]);
    expect(reached(policies, agent('tenant'), member)).toEqual([]);
  });

  it('let agents of restores to those that read with the operator’s credentials', () => {
    const own = policiesIn('network-policies/operator.yaml');
    expect(own.every(({ metadata }) => metadata.namespace === operator.namespace)).toBe(true);
    expect(reached(own, agent(operator.namespace), agent('tenant'))).toEqual([courierPort]);
    expect(reached(own, agent(operator.namespace), operator)).toEqual([progressPort]);
    expect(reached(own, operator, member)).toEqual([]);
    expect(reached(own, operator, { namespace: 'monitoring', labels: {} })).toEqual([8080]);
  });
});
