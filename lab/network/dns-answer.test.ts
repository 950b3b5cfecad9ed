import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Service } from '../../src/kube/object.ts';
import { answerTo } from './dns-answer.ts';
import { namesOf } from './names.ts';

const service = (name: string, clusterIP: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'ns' },
  spec: { clusterIP, ports: [{ name: 'client', port: 2379 }] },
});
const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'peers-1', namespace: 'ns', labels: { 'kubernetes.io/service-name': 'peers' } },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.244.1.2'], hostname: 'm0', conditions: { ready: true } },
    { addresses: ['10.244.2.3'], conditions: { ready: true } },
    { addresses: ['10.244.3.4'], hostname: 'm2', conditions: { ready: false } },
  ],
  ports: [{ name: 'client', port: 2379, protocol: 'TCP' }],
};
const names = namesOf({ services: [service('peers', 'None'), service('client', '10.96.1.1')], slices: [slice] });
const ask = (type: 'A' | 'AAAA' | 'SRV' | 'PTR', name: string) =>
  answerTo({ type: 'query', id: 7, questions: [{ type, name }] }, names);
const data = (type: 'A' | 'SRV' | 'PTR', name: string) =>
  ask(type, name).answers?.map((answer) => ('data' in answer ? answer.data : undefined));
const isUnknown = (type: 'A' | 'AAAA', name: string): boolean => ((ask(type, name).flags ?? 0) & 0xf) === 3;

describe("the cluster's DNS", () => {
  it('resolves a Service to its cluster IP, and a headless Service to its ready pods', () => {
    expect(data('A', 'client.ns.svc.cluster.local')).toEqual(['10.96.1.1']);
    expect(data('A', 'peers.ns.svc.cluster.local')).toEqual(['10.244.1.2', '10.244.2.3']);
  });

  it('resolves a pod by its host name, or by its address if it has none', () => {
    expect(data('A', 'M0.Peers.ns.svc.cluster.local')).toEqual(['10.244.1.2']);
    expect(data('A', '10-244-2-3.peers.ns.svc.cluster.local')).toEqual(['10.244.2.3']);
    expect(isUnknown('A', 'm2.peers.ns.svc.cluster.local')).toBe(true);
  });

  it('answers SRV queries with named ports and the addresses of their targets', () => {
    const answer = ask('SRV', '_client._tcp.peers.ns.svc.cluster.local');
    expect(answer.answers?.map((each) => ('data' in each ? each.data : undefined))).toEqual([
      { priority: 0, weight: 50, port: 2379, target: 'm0.peers.ns.svc.cluster.local' },
      { priority: 0, weight: 50, port: 2379, target: '10-244-2-3.peers.ns.svc.cluster.local' },
    ]);
    expect(answer.additionals).toHaveLength(2);
  });

  it('answers NXDOMAIN only for names that do not exist, not for a missing record type', () => {
    expect(isUnknown('AAAA', 'client.ns.svc.cluster.local')).toBe(false);
    expect(isUnknown('A', 'ns.svc.cluster.local')).toBe(false);
    expect(isUnknown('A', 'unknown.ns.svc.cluster.local')).toBe(true);
    expect(isUnknown('A', 'example.com')).toBe(true);
  });

  it('resolves a pod address back to its name', () => {
    expect(data('PTR', '2.1.244.10.in-addr.arpa')).toEqual(['m0.peers.ns.svc.cluster.local']);
  });
});
