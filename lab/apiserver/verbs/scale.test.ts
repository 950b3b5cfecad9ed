import { expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'busybox' }] } };
const body = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };

it('the scale subresource accepts every patch type', async () => {
  const ask = asking(labState());
  await ask('POST', deployments, { body });
  const patches = [
    ['json-patch', 2, [{ op: 'replace', path: '/spec/replicas', value: 2 }]],
    ['merge-patch', 3, { spec: { replicas: 3 } }],
    ['strategic-merge-patch', 4, { spec: { replicas: 4 } }],
  ] as const;
  for (const [patchType, replicas, patch] of patches) {
    const sent = { body: patch, contentType: `application/${patchType}+json` };
    expect(await ask('PATCH', `${deployments}/web/scale`, sent)).toMatchObject({ spec: { replicas } });
    expect(await ask('GET', `${deployments}/web`)).toMatchObject({ spec: { replicas } });
  }
});

it('negative replicas are refused, on the scale subresource and on the object', async () => {
  const ask = asking(labState());
  await ask('POST', deployments, { body });
  const patch = { body: { spec: { replicas: -1 } }, contentType: 'application/merge-patch+json' };
  const error = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0';
  await expect(ask('PATCH', `${deployments}/web/scale`, patch)).rejects.toThrow(
    `Scale.autoscaling "web" is invalid: ${error}`,
  );
  await expect(ask('PATCH', `${deployments}/web`, patch)).rejects.toThrow(`Deployment.apps "web" is invalid: ${error}`);
});
