import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployments, type Job, jobs, serviceAccounts } from '../../lab/kinds.ts';
import type { Pod } from '../../src/kube/object.ts';
import { events, pods } from '../../src/kube/resource.ts';
import { TestLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

let lab: TestLab;
beforeAll(async () => {
  lab = await TestLab.open();
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

interface JobOptions extends Omit<NonNullable<Job['spec']>, 'template'> {
  readonly pod: NonNullable<Pod['spec']>;
}

async function job(namespace: string, name: string, { pod, ...spec }: JobOptions): Promise<void> {
  const template = { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, ...pod } };
  await lab.create(jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name },
    spec: { ...spec, template },
  });
}

const shell = (line: string) => ({ containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', line] }] });

async function ended(namespace: string, name: string): Promise<Job> {
  return await until(`Job ${name} has finished`, async () => {
    const found = await lab.server.client.get(jobs, { namespace, name });
    const hasFinished = found.status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed');
    return hasFinished === true ? found : undefined;
  });
}

const eventsWith = async (namespace: string, reason: string): Promise<readonly string[]> =>
  (await lab.server.client.list(events, { namespace })).items
    .filter((event) => event.reason === reason)
    .map(({ involvedObject, message }) => `${involvedObject.kind}: ${message}`);

describe('Jobs of the lab', () => {
  it('run pods until enough have succeeded', async () => {
    const namespace = await lab.namespace('jobs');
    await job(namespace, 'works', { completions: 3, parallelism: 2, pod: shell('exit 0') });
    const { status } = await ended(namespace, 'works');
    expect([status?.succeeded, status?.active ?? 0, status?.failed ?? 0]).toEqual([3, 0, 0]);
    const { items } = await lab.server.client.list(pods, { namespace, labelSelector: 'job-name=works' });
    expect(items.map((pod) => pod.status?.phase)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  });

  it('fail after too many failed pods', async () => {
    const namespace = await lab.namespace('hopeless');
    await job(namespace, 'fails', { backoffLimit: 1, pod: shell('exit 1') });
    const { status } = await ended(namespace, 'fails');
    expect(status).toMatchObject({ failed: 2 });
    expect(status?.conditions?.find(({ type }) => type === 'Failed')?.reason).toBe('BackoffLimitExceeded');
  });
});

describe('a controller whose pods are refused for a missing ServiceAccount', () => {
  it('reports it in one Event, and creates the pods when the ServiceAccount exists', async () => {
    const namespace = await lab.namespace('early');
    await job(namespace, 'job', { pod: { ...shell('exit 0'), serviceAccountName: 'late' } });
    const labels = { app: 'web' };
    const spec = { ...shell('exec sleep 1000'), serviceAccountName: 'late', terminationGracePeriodSeconds: 0 };
    await lab.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    const why = 'error looking up service account early/late: serviceaccount "late" not found';
    await until('both controllers have reported it', async () => {
      const reported = await eventsWith(namespace, 'FailedCreate');
      expect(reported.find((line) => line.startsWith('Job: '))).toBe(
        `Job: Error creating: pods "job-" is forbidden: ${why}`,
      );
      expect(reported.find((line) => line.startsWith('ReplicaSet: '))).toMatch(
        /^ReplicaSet: Error creating: pods "web-[0-9a-z]+-" is forbidden: error looking up service account early\/late/,
      );
      return true;
    });
    await lab.server.client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'late' },
    });
    await ended(namespace, 'job');
    await until('the Deployment has its pods', async () => {
      const { status } = await lab.server.client.get(deployments, { namespace, name: 'web' });
      return status?.readyReplicas === 2 ? true : undefined;
    });
    expect(await eventsWith(namespace, 'FailedCreate')).toHaveLength(2);
  });
});
