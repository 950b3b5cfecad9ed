import { describe, expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const maps = '/api/v1/namespaces/default/configmaps';

describe('Secrets and ConfigMaps', () => {
  it('refuse data that is not base64', async () => {
    const ask = asking(labState());
    const create = (text: string): Promise<unknown> =>
      ask('POST', secrets, { body: { metadata: { name: 's' }, data: { key: text } } });
    await expect(create('not base64')).rejects.toThrow('illegal base64 data at input byte 3');
    await expect(create('YQ==YQ==')).rejects.toThrow('illegal base64 data at input byte 4');
    await expect(create('YQ')).rejects.toThrow('illegal base64 data at input byte 0');
    expect(await create('YQ==')).toMatchObject({ data: { key: 'YQ==' } });
  });

  it('refuse keys that are no file names', async () => {
    const ask = asking(labState());
    for (const key of ['a/b', '../../up', '..', 'a b', ''])
      await expect(ask('POST', maps, { body: { metadata: { name: 'm' }, data: { [key]: '' } } })).rejects.toThrow(
        `data[${key}]: Invalid value`,
      );
    await ask('POST', maps, { body: { metadata: { name: 'm' }, data: { 'ca.crt': '', '.hidden': '' } } });
  });

  it('of type kubernetes.io/tls need a key, and the type of a Secret is immutable', async () => {
    const ask = asking(labState());
    const body = { metadata: { name: 's' }, type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'c' } };
    await expect(ask('POST', secrets, { body })).rejects.toThrow('data[tls.key]: Required value');
    await ask('POST', secrets, { body: { ...body, stringData: { 'tls.crt': 'c', 'tls.key': 'k' } } });
    const merge = { body: { type: 'Opaque' }, contentType: 'application/merge-patch+json' };
    await expect(ask('PATCH', `${secrets}/s`, merge)).rejects.toThrow(
      'type: Invalid value: "Opaque": field is immutable',
    );
  });
});
