import { join } from 'node:path';
import { fromIni } from '@aws-sdk/credential-provider-ini';
import { loadSharedConfigFiles } from '@smithy/core/config';
import { type Credentials, keysOfSecret, workloadIdentity } from '../credentials.ts';

type Keys = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };

/** How a client of S3 enters, as far as a Secret says; what it does not say is left to the SDK's own chain. */
export interface S3Entry {
  readonly identity: string;
  readonly credentials?: Keys | ReturnType<typeof fromIni>;
  readonly region?: string;
}

/** Under these names a Secret holds files in the format of the AWS command line. */
const credentialsFile = 'credentials';
const configFile = 'config';
/** Or, under these, the bare values. */
const bare = { id: 'AWS_ACCESS_KEY_ID', secret: 'AWS_SECRET_ACCESS_KEY', token: 'AWS_SESSION_TOKEN' } as const;

export async function s3Entry(credentials: Credentials | undefined, profile = 'default'): Promise<S3Entry> {
  if (credentials === undefined) return { identity: workloadIdentity };
  const region = await regionIn(credentials, profile);
  return { ...shown(credentials, profile), ...(region === undefined ? {} : { region }) };
}

function shown(credentials: Credentials, profile: string): S3Entry {
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

const bothMissing = ({ secret }: Credentials): S3Entry => ({
  identity: `${workloadIdentity} (Secret "${secret}" has neither "${credentialsFile}" nor "${bare.id}")`,
});

const filesOf = ({ directory }: Credentials): { readonly filepath: string; readonly configFilepath: string } => ({
  filepath: join(directory, credentialsFile),
  configFilepath: join(directory, configFile),
});

async function regionIn(credentials: Credentials, profile: string): Promise<string | undefined> {
  const bareRegion = credentials.keys.get('AWS_REGION')?.trim();
  if (bareRegion) return bareRegion;
  const { configFile: config } = await loadSharedConfigFiles({ ...filesOf(credentials), ignoreCache: true });
  return config[profile]?.['region'];
}
