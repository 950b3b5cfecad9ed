import { describe, expect, it } from 'vitest';
import { contract, done, type Json, refusal } from './support.ts';

const { kubectl, request, create, namespace } = contract('pods');

const one = { name: 'one', image: 'busybox' };
const pod = (spec: object): Json => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
const dryRun = (spec: object) => create(pod(spec), '&dryRun=All');

describe('a pod spec', () => {
  it.each([
    [{ containers: [{ name: 'one' }] }, 'spec.containers[0].image: Required value'],
    [{ containers: [one, one] }, 'spec.containers[1].name: Duplicate value: "one"'],
    [
      { containers: [{ ...one, volumeMounts: [{ name: 'none', mountPath: '/a' }] }] },
      'spec.containers[0].volumeMounts[0].name: Not found: "none"',
    ],
    [
      { containers: [{ ...one, resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } }] },
      'spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
    ],
    [
      { containers: [{ ...one, resources: { requests: { cpu: '1100m' }, limits: { cpu: '1' } } }] },
      'spec.containers[0].resources.requests: Invalid value: "1100m": must be less than or equal to cpu limit of 1',
    ],
  ])('with an invalid field is rejected: %j', async (spec, message) => {
    expect(await refusal(dryRun(spec))).toContain(message);
  });

  it('is admitted if requests equal limits in another notation', async () => {
    const resources = { requests: { cpu: '1000m', memory: '1024Mi' }, limits: { cpu: '1', memory: '1Gi' } };
    const spec = { containers: [{ ...one, resources }] };
    expect(await done(dryRun(spec))).toMatchObject({ kind: 'Pod' });
  });
});

describe('kubectl logs and exec', () => {
  it('fail with the dial error if the kubelet of the pod is unreachable', async () => {
    const name = `silent-${namespace}`;
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
    };
    expect((await request('POST', '/api/v1/nodes', { body: { metadata: { name }, status } })).code).toBe(201);
    await done(create(pod({ nodeName: name, containers: [one] })));
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused';
    const { code, body } = await request('GET', `/api/v1/namespaces/${namespace}/pods/p/log`);
    expect(code).toBe(500);
    expect(body['message']).toContain('Get "https://127.0.0.1:1/containerLogs/');
    expect(body['message']).toContain(refused);
    expect(await kubectl.refused('exec p -- true')).toMatch(
      /Internal error occurred: error sending request: Post "https:\/\/127\.0\.0\.1:1\/exec\/.*": dial tcp 127\.0\.0\.1:1: connect: connection refused/,
    );
    await request('DELETE', `/api/v1/nodes/${name}`);
    await done(request('DELETE', `/api/v1/namespaces/${namespace}/pods/p?gracePeriodSeconds=0`));
  });
});
