import { Failure } from '../../std/failure.ts';
import { assertAccount } from '../address.ts';

/** Domains of the separate clouds of Azure, by the names that Azure's own tools use. */
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
  throw new Failure(
    'rejected',
    `"${cloud}" is not a cloud of Azure: set the key "cloud" of the Secret to one of ${known}`,
  );
}
