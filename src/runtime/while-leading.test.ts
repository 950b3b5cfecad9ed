import { expect, it } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import { pods } from '../kube/resource.ts';
import { whileLeading } from './while-leading.ts';

const methods = ['get', 'list', 'create', 'update', 'patch', 'remove', 'read', 'review'] as const;

/** What reaches the API server when the lease is lost in the middle of a step. */
async function reachingAfterLoss(): Promise<readonly string[]> {
  const reached: string[] = [];
  let leads = true;
  const client = Object.fromEntries(methods.map((name) => [name, async () => void reached.push(name)]));
  const fenced = whileLeading(client as unknown as KubeClient, () => leads);
  await fenced.get(pods, { name: 'a' });
  leads = false; // the process stood still here
  const calls = [
    () => fenced.create(pods, {} as never),
    () => fenced.update(pods, {} as never),
    () => fenced.patch(pods, { name: 'a' }, { type: 'merge', body: {} }),
    () => fenced.remove(pods, { name: 'a' }),
    () => fenced.list(pods),
  ];
  for (const call of calls) await call().catch(() => undefined);
  return reached;
}

it('every write to Kubernetes is refused once the lease is not surely ours, and reads are not', async () =>
  expect(await reachingAfterLoss()).toEqual(['get', 'list']));
