import { join } from 'node:path';
import { fromIni } from '@aws-sdk/credential-provider-ini';
import { loadSharedConfigFiles } from '@smithy/core/config';
import { keysOfSecret, type StoreCredentials, workloadIdentity } from '../credentials.ts';

type Keys = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };

/** Credentials and region from a Secret. Missing values come from the default chain of the SDK. */
export interface S3Credentials {
  readonly identity: string;
  readonly credentials?: Keys | ReturnType<typeof fromIni>;
  readonly region?: string;
}

/** Keys with files in the format of the AWS command line. */
const credentialsFile = 'credentials';
const configFile = 'config';
/** Keys with plain values. */
const bare = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY', token: 'AWS_SESSION_TOKEN' } as const;

export async function s3Credentials(
  credentials: StoreCredentials | undefined,
  profile = 'default',
): Promise<S3Credentials> {
  if (credentials === undefined) return { identity: workloadIdentity };
  const region = await regionIn(credentials, profile);
  return { ...credentialsIn(credentials, profile), ...(region === undefined ? {} : { region }) };
}

function credentialsIn(credentials: StoreCredentials, profile: string): S3Credentials {
  const value = (key: string): string | undefined => credentials.keys.get(key)?.trim();
  const [accessKeyId, secretAccessKey, sessionToken] = [value(bare.id), value(bare.secret), value(bare.token)];
  if (accessKeyId && secretAccessKey) {
    const keys = { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
    return { identity: keysOfSecret(credentials, bare.id, bare.secret), credentials: keys };
  }
  if (!credentials.keys.has(credentialsFile) && !credentials.keys.has(configFile)) return bothMissing(credentials);
  if (!credentials.keys.has(credentialsFile))
    return { identity: `${workloadIdentity} (Secret "${credentials.secret}" has no key "${credentialsFile}")` };
  return {
    identity: `profile "${profile}" in ${keysOfSecret(credentials, credentialsFile)}`,
    credentials: fromIni({ ...filesOf(credentials), profile, ignoreCache: true }),
  };
}

const bothMissing = ({ secret }: StoreCredentials): S3Credentials => ({
  identity: `${workloadIdentity} (Secret "${secret}" has neither "${credentialsFile}" nor "${bare.id}")`,
});

const filesOf = ({ directory }: StoreCredentials): { readonly filepath: string; readonly configFilepath: string } => ({
  filepath: join(directory, credentialsFile),
  configFilepath: join(directory, configFile),
});

async function regionIn(credentials: StoreCredentials, profile: string): Promise<string | undefined> {
  const bareRegion = credentials.keys.get('AWS_REGION')?.trim();
  if (bareRegion) return bareRegion;
  const { configFile: config } = await loadSharedConfigFiles({ ...filesOf(credentials), ignoreCache: true });
  return config[profile]?.['region'];
}
