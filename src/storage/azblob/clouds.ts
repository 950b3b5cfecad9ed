import { Failure } from '../../std/failure.ts';
import { assertAccount } from '../address.ts';

/** Azure's separate worlds, under the names that its own tools give them, and where their blobs are. */
const domains: Readonly<Record<string, string>> = {
  azurepubliccloud: 'blob.core.windows.net',
  azureusgovernmentcloud: 'blob.core.usgovcloudapi.net',
  azurechinacloud: 'blob.core.chinacloudapi.cn',
  azuregermancloud: 'blob.core.cloudapi.de',
};

export function serviceUrl(account: string, cloud = 'AzurePublicCloud'): string {
  assertAccount(account, 'storage account');
  const domain = domains[cloud.toLowerCase()];
  if (domain !== undefined) return `https://${account}.${domain}`;
  const known = 'AzurePublicCloud, AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud';
  throw new Failure('rejected', `"${cloud}" is no cloud of Azure's: under "cloud" the Secret may hold ${known}`);
}
