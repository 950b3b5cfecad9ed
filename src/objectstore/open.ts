import type { StoreAddress, StoreKind } from './address.ts';
import { type StoreCredentials, workloadIdentity } from './credentials.ts';
import { GuardedStore, type GuardSettings } from './guarded-store.ts';
import { blockMetadataServices } from './metadata-guard.ts';
import type { ObjectStore, StoreDriver } from './store.ts';
import type { StoreProxyAccess } from './store-proxy/store-proxy-client.ts';
import { trustCaIn } from './trusted-ca.ts';

/** How a store is opened. */
export interface ObjectStoreOptions {
  /** If undefined, the workload identity of the Pod is used. */
  readonly credentials?: StoreCredentials | undefined;
  /** Mount directory of the volume of a `file` store. */
  readonly volume?: string | undefined;
  readonly guard?: Partial<GuardSettings>;
}

/** Opens the store of an address. The library of a provider is loaded on first use. */
export async function openStore(address: StoreAddress, options: ObjectStoreOptions = {}): Promise<ObjectStore> {
  if (options.credentials !== undefined) trustCaIn(options.credentials);
  const driver = await drivers[address.kind](address, options);
  blockMetadataServices({ strictly: mayBeRedirected(address) && !driver.identity.startsWith(workloadIdentity) });
  return new GuardedStore(driver, options.guard);
}

/** True if the library follows redirects and the server is not the provider's own. */
const mayBeRedirected = ({ kind, endpoint }: StoreAddress): boolean =>
  endpoint !== undefined && (kind === 'gcs' || kind === 'azblob');

/**
 * Opens a store through a store proxy, without credentials. The idle timeout is long because the proxy may be
 * restarted.
 */
export async function openThroughStoreProxy(address: StoreAddress, access: StoreProxyAccess): Promise<ObjectStore> {
  const { storeProxyDriver } = await import('./store-proxy/store-proxy-client.ts');
  return new GuardedStore(storeProxyDriver(address, access), { idleMillis: 360_000 });
}

type Opener = (address: StoreAddress, options: ObjectStoreOptions) => Promise<StoreDriver>;

const drivers: Readonly<Record<StoreKind, Opener>> = {
  s3: async (address, { credentials }) => (await import('./s3/s3-store.ts')).openS3(address, credentials),
  oss: async (address, { credentials }) => (await import('./oss/oss-store.ts')).openOss(address, credentials),
  gcs: async (address, { credentials }) => (await import('./gcs/gcs-store.ts')).openGcs(address, credentials),
  azblob: async (address, { credentials }) =>
    (await import('./azblob/azblob-store.ts')).openAzblob(address, credentials),
  file: async (address, { volume }) => (await import('./file/file-store.ts')).openVolume(address, volume),
};
