import { expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';

it('the default, kube-system and kube-public namespaces cannot be deleted', async () => {
  const ask = asking(labState());
  for (const name of ['default', 'kube-system', 'kube-public']) {
    await expect(ask('DELETE', `/api/v1/namespaces/${name}`)).rejects.toThrow(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
    expect(await ask('GET', `/api/v1/namespaces/${name}`)).toMatchObject({ status: { phase: 'Active' } });
  }
});

it('a deleted namespace is terminating', async () => {
  const ask = asking(labState());
  await ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } });
  expect(await ask('DELETE', '/api/v1/namespaces/mine')).toMatchObject({ status: { phase: 'Terminating' } });
});

it('a deletion with an unknown propagation policy is refused and changes nothing', async () => {
  const ask = asking(labState());
  const path = '/api/v1/namespaces/mine';
  await ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } });
  const refusal =
    'propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"';
  await expect(ask('DELETE', `${path}?propagationPolicy=Some`)).rejects.toThrow(refusal);
  await expect(ask('DELETE', path, { body: { propagationPolicy: 'Some' } })).rejects.toThrow(refusal);
  expect(await ask('GET', path)).toMatchObject({ status: { phase: 'Active' } });
});
