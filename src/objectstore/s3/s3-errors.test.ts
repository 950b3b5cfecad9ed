import { expect, it } from 'vitest';
import { GuardedStore } from '../guarded-store.ts';
import { explainS3 } from './s3-errors.ts';

it('a missing multipart upload is not reported as a missing bucket', async () => {
  const gone = Object.assign(new Error('The specified upload does not exist'), {
    Code: 'NoSuchUpload',
    $metadata: { httpStatusCode: 404 },
  });
  const driver = { place: 'bucket "b"', identity: 'i', put: () => Promise.reject(gone), explain: explainS3 };
  const writing = new GuardedStore(driver as never).put('k', (async function* () {})());
  await expect(writing).rejects.toMatchObject({ trouble: 'unreachable', message: /upload does not exist/ });
});
