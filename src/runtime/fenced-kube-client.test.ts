import { expect, it } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import { pods } from '../kube/resource.ts';
import { fencedKubeClient } from './fenced-kube-client.ts';

const methods = ['get', 'list', 'create', 'update', 'patch', 'remove', 'read', 'review'] as const;

/** The calls that reach the API server if the lease is lost during a step. */
async function reachingAfterLoss(): Promise<readonly string[]> {
  const reached: string[] = [];
  let leads = true;
  const client = Object.fromEntries(methods.map((name) => [name, async () => void reached.push(name)]));
  const fenced = fencedKubeClient(client as unknown as KubeClient, () => leads);
  await fenced.get(pods, { name: 'a' });
  leads = false; // the process was paused here
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

it('the fenced client refuses every write after the lease is lost, but no read', async () =>
  expect(await reachingAfterLoss()).toEqual(['get', 'list']));

it.each([
  ['create', (client: KubeClient) => client.create(pods, {} as never)],
  ['update', (client: KubeClient) => client.update(pods, {} as never)],
  ['patch', (client: KubeClient) => client.patch(pods, { name: 'a' }, { type: 'merge', body: {} })],
  ['remove', (client: KubeClient) => client.remove(pods, { name: 'a' })],
])('the fenced client checks the lease once more right before the request is sent: %s', async (method, write) => {
  const sent: string[] = [];
  let leads = true;
  const send = async (...asked: readonly { readonly confirm?: () => void }[]): Promise<void> => {
    leads = false; // the process was paused while it waited for credentials
    asked.at(-1)?.confirm?.();
    sent.push(method);
  };
  const fenced = fencedKubeClient({ [method]: send } as unknown as KubeClient, () => leads);
  await expect(write(fenced)).rejects.toThrow('no longer holds the leader lease');
  expect(sent).toEqual([]);
});
