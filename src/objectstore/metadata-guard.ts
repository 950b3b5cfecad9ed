import { subscribe } from 'node:diagnostics_channel';
import dns, { type LookupAddress } from 'node:dns';
import type { ClientRequest } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { Failure } from '../std/failure.ts';

/** Addresses of metadata services: link-local addresses, and those of Amazon, Google, Alibaba and Azure. */
const metadata = new BlockList();
metadata.addSubnet('169.254.0.0', 16, 'ipv4');
metadata.addSubnet('fe80::', 10, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16']) metadata.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) metadata.addAddress(address, 'ipv6');

/** Names of metadata services, which libraries use for workload identities. No endpoint may have these names. */
export const isMetadataName = (host: string): boolean =>
  /^(?:metadata(?:\.google\.internal)?|instance-data(?:\.ec2\.internal)?)\.?$/i.test(host);

/** True for an address of a metadata service. IPv4 addresses that are written as IPv6 count as well. */
export const isMetadataAddress = (address: string): boolean => {
  const bare = address.replace(/^\[|\]$|%.*$/g, '');
  const family = isIP(bare);
  return family !== 0 && metadata.check(bare, family === 6 ? 'ipv6' : 'ipv4');
};

const refusal = (host: string, address: string): Failure =>
  new Failure(
    'rejected',
    `"${host}" resolves to ${address}, a metadata service of the cloud, which is not a store: correct the endpoint`,
  );

type Callback = (error: Error | null, found?: string | readonly LookupAddress[], family?: number) => void;
type Lookup = (host: string, options: object | Callback, callback?: Callback) => void;

/** A DNS lookup that refuses names that resolve to a metadata service. */
export const guarded =
  (lookup: Lookup): Lookup =>
  (host, options, callback) => {
    const answer = callback ?? (options as Callback);
    const checked: Callback = (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
      const bad = isMetadataName(host) ? undefined : addresses.find(isMetadataAddress);
      if (bad === undefined) answer(error, found, family);
      else answer(refusal(host, bad));
    };
    lookup(host, callback === undefined ? {} : options, checked);
  };

let isGuarded = false;
let isStrict = false;

/**
 * Blocks metadata services in the whole process. Names are checked in the DNS lookup of each connection, so that a name
 * that changes its address is refused, too. With `strictly`, for stores without a workload identity, requests to an
 * address of a metadata service are refused as well, also after a redirect.
 */
export function blockMetadataServices({ strictly }: { readonly strictly: boolean }): void {
  isStrict ||= strictly;
  if (isGuarded) return;
  isGuarded = true;
  dns.lookup = Object.assign(guarded(dns.lookup as Lookup), {
    __promisify__: dns.lookup.__promisify__,
  }) as typeof dns.lookup;
  subscribe('http.client.request.created', (message) => {
    const { request } = message as { readonly request: ClientRequest };
    const { host } = request;
    if (isStrict && (isMetadataAddress(host) || isMetadataName(host))) request.destroy(refusal(host, host));
  });
}
