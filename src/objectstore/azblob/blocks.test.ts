import type { BlockBlobClient } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { uploadBlocks } from './blocks.ts';

it('an upload to Azure closes its source if a block is refused', async () => {
  let isOpen = true;
  const source = async function* () {
    try {
      for (let i = 0; i < 100; i++) yield Buffer.alloc(1 << 20);
    } finally {
      isOpen = false;
    }
  };
  const blob = { stageBlock: () => Promise.reject(new Error('no')) } as unknown as BlockBlobClient;
  await expect(uploadBlocks(blob, source(), new AbortController().signal)).rejects.toThrow('no');
  expect(isOpen).toBe(false);
});
