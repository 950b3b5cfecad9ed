import { beforeAll, describe, expect, it } from 'vitest';
import { contract, type Json } from './support.ts';

const { say, namespace } = contract('fields');
const core = `/api/v1/namespaces/${namespace}`;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const node = `node-of-${namespace}`;
const spec = { containers: [{ name: 'c', image: 'busybox' }] };

/** The names of what a selector finds, or why it finds nothing. */
async function found(path: string, selector: string): Promise<unknown> {
  const { body } = await say('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`);
  const items = body['items'] as { metadata: { name: string } }[] | undefined;
  return items?.map(({ metadata }) => metadata.name) ?? body['message'];
}

/** None of them is ever run: they wait for a node that nobody has. */
const pod = (name: string, content: Json): Json => ({
  metadata: { name },
  spec: { ...spec, nodeSelector: { nobody: 'has' }, ...content },
});
const event = { reason: 'Seen', type: 'Normal' };
const about = { kind: 'Pod', namespace, name: 'spoken-of' };

const made: readonly [string, Json][] = [
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
  for (const [path, body] of made) expect((await say('POST', path, { body })).code).toBe(201);
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
    [events, 'regarding.name=spoken-of', ['new', 'old']],
    [events, 'reportingController=kubelet', ['new']],
  ])('finds in %s by %s', async (path, selector, names) => {
    expect(await found(path, selector)).toEqual(names);
  });

  it('finds nodes that take pods, and those that do not', async () => {
    const ours = (schedulable: string): Promise<unknown> =>
      found('/api/v1/nodes', `spec.unschedulable${schedulable},metadata.name=${node}`);
    expect(await ours('=false')).toEqual([node]);
    await say('PATCH', `/api/v1/nodes/${node}`, {
      body: { spec: { unschedulable: true } },
      contentType: 'application/merge-patch+json',
    });
    expect(await ours('=false')).toEqual([]);
    expect(await ours('=true')).toEqual([node]);
    await say('DELETE', `/api/v1/nodes/${node}`);
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
  ])('is refused in %s by %s', async (path, selector, says) => {
    expect(await found(path, selector)).toBe(says);
  });
});
