import { expect, it } from 'vitest';
import { asking, labState } from '../../../../test/support/lab-requests.ts';

const maps = '/api/v1/namespaces/default/configmaps';

it('lets nobody new hold back what is about to go', async () => {
  const ask = asking(labState());
  const hold = (...finalizers: readonly string[]): Promise<unknown> =>
    ask('PATCH', `${maps}/m`, { body: { metadata: { finalizers } }, contentType: 'application/merge-patch+json' });
  await ask('POST', maps, { body: { metadata: { name: 'm', finalizers: ['a/a', 'b/b'] } } });
  await ask('DELETE', `${maps}/m`);
  await expect(hold('a/a', 'c/c')).rejects.toThrow(
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/c"}',
  );
  expect(await hold('a/a')).toMatchObject({ metadata: { finalizers: ['a/a'] } });
});

it('changes only the object that the path names', async () => {
  const ask = asking(labState());
  await ask('POST', maps, { body: { metadata: { name: 'm' } } });
  const patched = (metadata: object): Promise<unknown> =>
    ask('PATCH', `${maps}/m`, { body: { metadata }, contentType: 'application/merge-patch+json' });
  await expect(patched({ name: 'n' })).rejects.toThrow('(n) does not match the name on the URL (m)');
  await expect(patched({ namespace: 'n' })).rejects.toThrow('does not match the namespace sent on the request');
  await expect(patched({ uid: 'n' })).rejects.toThrow('metadata.uid: Invalid value: "n": field is immutable');
  const put = ask('PUT', `${maps}/m`, { body: { metadata: { name: 'm', namespace: 'n' } } });
  await expect(put).rejects.toThrow('does not match the namespace sent on the request');
});

it('knows who holds an object back', async () => {
  const ask = asking(labState());
  const held = (by: string): Promise<unknown> =>
    ask('POST', maps, { body: { metadata: { name: 'm', finalizers: [by] } } });
  await expect(held('me')).rejects.toThrow('metadata.finalizers[0]: Invalid value: "me": name is neither a standard');
  await expect(held('a b/c')).rejects.toThrow('Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain');
});
