import type { StoreAddress, StoreKind } from './address.ts';
import { believeAuthorityIn } from './authority.ts';
import type { CourierAccess } from './courier/courier-store.ts';
import { type Credentials, workloadIdentity } from './credentials.ts';
import { GuardedStore, type GuardSettings } from './guarded-store.ts';
import { avoidMetadata } from './metadata-guard.ts';
import type { ObjectStore, StoreDriver } from './store.ts';

export interface StoreAccess {
  /** Without any, the pod's workload identity is used. */
  readonly credentials?: Credentials | undefined;
  /** Where the volume of a `file` store is mounted. */
  readonly volume?: string | undefined;
  readonly guard?: Partial<GuardSettings>;
}

/** Opens the store of an address. A provider's library is loaded when it is first asked for. */
export async function openStore(address: StoreAddress, access: StoreAccess = {}): Promise<ObjectStore> {
  if (access.credentials !== undefined) believeAuthorityIn(access.credentials);
  const driver = await drivers[address.kind](address, access);
  avoidMetadata({ strictly: mayBeRedirected(address) && !driver.identity.startsWith(workloadIdentity) });
  return new GuardedStore(driver, access.guard);
}

/** These libraries follow redirects, and a server of one's own may send any. */
const mayBeRedirected = ({ kind, endpoint }: StoreAddress): boolean =>
  endpoint !== undefined && (kind === 'gcs' || kind === 'azblob');

/** The same by way of a courier, to which nothing has to be shown but what is mounted at `pass`. It may be away for a while. */
export async function openByCourier(address: StoreAddress, access: CourierAccess): Promise<ObjectStore> {
  const { openCourier } = await import('./courier/courier-store.ts');
  return new GuardedStore(openCourier(address, access), { idleMillis: 360_000 });
}

type Opener = (address: StoreAddress, access: StoreAccess) => Promise<StoreDriver>;

const drivers: Readonly<Record<StoreKind, Opener>> = {
  s3: async (address, { credentials }) => (await import('./s3/s3-store.ts')).openS3(address, credentials),
  oss: async (address, { credentials }) => (await import('./oss/oss-store.ts')).openOss(address, credentials),
  gcs: async (address, { credentials }) => (await import('./gcs/gcs-store.ts')).openGcs(address, credentials),
  azblob: async (address, { credentials }) =>
    (await import('./azblob/azblob-store.ts')).openAzblob(address, credentials),
  file: async (address, { volume }) => (await import('./file/file-store.ts')).openVolume(address, volume),
};
