import { expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';

const maps = '/api/v1/namespaces/default/configmaps';

it('an object under deletion accepts no new finalizer, and existing ones can be removed', async () => {
  const ask = asking(labState());
  const setFinalizers = (...finalizers: readonly string[]): Promise<unknown> =>
    ask('PATCH', `${maps}/m`, { body: { metadata: { finalizers } }, contentType: 'application/merge-patch+json' });
  await ask('POST', maps, { body: { metadata: { name: 'm', finalizers: ['a/a', 'b/b'] } } });
  await ask('DELETE', `${maps}/m`);
  await expect(setFinalizers('a/a', 'c/c')).rejects.toThrow(
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/c"}',
  );
  expect(await setFinalizers('a/a')).toMatchObject({ metadata: { finalizers: ['a/a'] } });
});

it('an update that names another object than the path is refused', async () => {
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

it('a finalizer without a valid domain prefix is refused', async () => {
  const ask = asking(labState());
  const create = (finalizer: string): Promise<unknown> =>
    ask('POST', maps, { body: { metadata: { name: 'm', finalizers: [finalizer] } } });
  await expect(create('me')).rejects.toThrow('metadata.finalizers[0]: Invalid value: "me": name is neither a standard');
  await expect(create('a b/c')).rejects.toThrow('Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain');
});
