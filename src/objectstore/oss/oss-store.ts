import { Failure } from '../../std/failure.ts';
import type { StoreAddress } from '../address.ts';
import { keysOfSecret, requiredKeys, type StoreCredentials } from '../credentials.ts';
import { s3Driver } from '../s3/s3-store.ts';
import type { StoreDriver } from '../store.ts';
import { s3EndpointOf } from './endpoint.ts';

const keyNames = ['accessKeyID', 'accessKeySecret'] as const;

/** Alibaba's Object Storage Service, through its S3 API, which needs the bucket in the host name. */
export async function openOss(address: StoreAddress, credentials: StoreCredentials | undefined): Promise<StoreDriver> {
  if (credentials === undefined)
    throw new Failure('rejected', `OSS needs a Secret with the keys ${keyNames.join(' and ')}: name that Secret`);
  const { accessKeyID, accessKeySecret } = requiredKeys(credentials, ...keyNames);
  const sessionToken = credentials.keys.get('securityToken')?.trim();
  const keys = { accessKeyId: accessKeyID, secretAccessKey: accessKeySecret };
  return s3Driver(
    { ...address, ...s3EndpointOf(address.endpoint) },
    {
      identity: keysOfSecret(credentials, ...keyNames),
      credentials: sessionToken ? { ...keys, sessionToken } : keys,
    },
  );
}
