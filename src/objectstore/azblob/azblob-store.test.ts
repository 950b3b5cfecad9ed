import { expect, it } from 'vitest';
import { openAzblob } from './azblob-store.ts';

it('opening Azure without a Secret and an account fails with the fields of both APIs', async () => {
  const opening = openAzblob({ kind: 'azblob', bucket: 'backups' }, undefined);
  await expect(opening).rejects.toThrow('endpoint https://NAME.blob.core.windows.net');
  await expect(opening).rejects.toThrow('azblob://…?storage_account=NAME');
});
