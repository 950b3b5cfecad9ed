import { expect, it } from 'vitest';
import { openAzblob } from './azblob-store.ts';

it('says how to name the storage account where no Secret does, in the fields of either API', async () => {
  const opening = openAzblob({ kind: 'azblob', bucket: 'backups' }, undefined);
  await expect(opening).rejects.toThrow('endpoint https://NAME.blob.core.windows.net');
  await expect(opening).rejects.toThrow('azblob://…?storage_account=NAME');
});
