import { expect, it } from 'vitest';
import { asking, labState } from '../../../../test/support/lab-requests.ts';

it('keeps the namespaces that every cluster has', async () => {
  const ask = asking(labState());
  for (const name of ['default', 'kube-system', 'kube-public']) {
    await expect(ask('DELETE', `/api/v1/namespaces/${name}`)).rejects.toThrow(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
    expect(await ask('GET', `/api/v1/namespaces/${name}`)).toMatchObject({ status: { phase: 'Active' } });
  }
});

it('lets other namespaces go', async () => {
  const ask = asking(labState());
  await ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } });
  expect(await ask('DELETE', '/api/v1/namespaces/mine')).toMatchObject({ status: { phase: 'Terminating' } });
});

it('leaves what is to go in a way that there is not', async () => {
  const ask = asking(labState());
  const path = '/api/v1/namespaces/mine';
  await ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } });
  const says =
    'propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"';
  await expect(ask('DELETE', `${path}?propagationPolicy=Some`)).rejects.toThrow(says);
  await expect(ask('DELETE', path, { body: { propagationPolicy: 'Some' } })).rejects.toThrow(says);
  expect(await ask('GET', path)).toMatchObject({ status: { phase: 'Active' } });
});
