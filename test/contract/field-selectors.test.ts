import { beforeAll, describe, expect, it } from 'vitest';
import { contract, type Json } from './support.ts';

const { request, namespace } = contract('fields');
const core = `/api/v1/namespaces/${namespace}`;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const node = `node-of-${namespace}`;
const spec = { containers: [{ name: 'c', image: 'busybox' }] };

/** Returns the names of the selected objects, or the server's error message. */
async function found(path: string, selector: string): Promise<unknown> {
  const { body } = await request('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`);
  const items = body['items'] as { metadata: { name: string } }[] | undefined;
  return items?.map(({ metadata }) => metadata.name) ?? body['message'];
}

/** A pod that stays Pending: its nodeSelector matches no node. */
const pod = (name: string, content: Json): Json => ({
  metadata: { name },
  spec: { ...spec, nodeSelector: { 'no-such-label': 'x' }, ...content },
});
const event = { reason: 'Seen', type: 'Normal' };
const about = { kind: 'Pod', namespace, name: 'regarded' };

const createdObjects: readonly [string, Json][] = [
  [`${core}/pods`, pod('plain', {})],
  [`${core}/pods`, pod('with-host', { hostNetwork: true })],
  [
    jobs,
    { metadata: { name: 'job' }, spec: { suspend: true, template: { spec: { ...spec, restartPolicy: 'Never' } } } },
  ],
  [`${core}/events`, { ...event, metadata: { name: 'old' }, involvedObject: about, source: { component: 'kubelet' } }],
  [
    events,
    {
      ...{
        ...event,
        metadata: { name: 'new' },
        regarding: about,
        action: 'See',
        eventTime: '2026-01-01T00:00:00.000000Z',
      },
      ...{ reportingController: 'kubelet', reportingInstance: 'k' },
    },
  ],
  ['/api/v1/nodes', { metadata: { name: node } }],
];

beforeAll(async () => {
  for (const [path, body] of createdObjects) expect((await request('POST', path, { body })).code).toBe(201);
});

describe('a field selector', () => {
  it.each<[string, string, readonly string[]]>([
    [`${core}/pods`, 'spec.hostNetwork=false', ['plain']],
    [`${core}/pods`, 'spec.hostNetwork!=false', ['with-host']],
    [`${core}/pods`, 'spec.nodeName=,metadata.name=plain', ['plain']],
    [jobs, 'status.successful=0', ['job']],
    [jobs, 'status.successful=1', []],
    [`${core}/events`, 'source=kubelet', ['new', 'old']],
    [`${core}/events`, 'reportingComponent=kubelet', ['new']],
    [events, 'regarding.name=regarded', ['new', 'old']],
    [events, 'reportingController=kubelet', ['new']],
  ])('lists %s by %s', async (path, selector, names) => {
    expect(await found(path, selector)).toEqual(names);
  });

  it('lists schedulable and unschedulable nodes', async () => {
    const ours = (schedulable: string): Promise<unknown> =>
      found('/api/v1/nodes', `spec.unschedulable${schedulable},metadata.name=${node}`);
    expect(await ours('=false')).toEqual([node]);
    await request('PATCH', `/api/v1/nodes/${node}`, {
      body: { spec: { unschedulable: true } },
      contentType: 'application/merge-patch+json',
    });
    expect(await ours('=false')).toEqual([]);
    expect(await ours('=true')).toEqual([node]);
    await request('DELETE', `/api/v1/nodes/${node}`);
  });

  it.each([
    [`${core}/pods`, 'spec.nope=1', 'field label not supported: spec.nope'],
    [jobs, 'spec.nope=1', 'field label "spec.nope" not supported for Job'],
    [events, 'source=kubelet', 'field label not supported: source'],
    [
      `/apis/apps/v1/namespaces/${namespace}/replicasets`,
      'status.replicas=0',
      '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ])('for %s is rejected if it is unsupported: %s', async (path, selector, message) => {
    expect(await found(path, selector)).toBe(message);
  });
});
