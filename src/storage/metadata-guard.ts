import { subscribe } from 'node:diagnostics_channel';
import dns, { type LookupAddress } from 'node:dns';
import type { ClientRequest } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { Failure } from '../std/failure.ts';

/** Link-local addresses, and the others at which clouds tell their machines secrets: Amazon's, Google's, Alibaba's, Azure's. */
const metadata = new BlockList();
metadata.addSubnet('169.254.0.0', 16, 'ipv4');
metadata.addSubnet('fe80::', 10, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16']) metadata.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) metadata.addAddress(address, 'ipv6');

/** What libraries ask when a pod's workload identity opens a store; no endpoint may have these names. */
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
    `"${host}" leads to ${address}, a metadata service of the cloud, which keeps no backups: correct the endpoint`,
  );

type Callback = (error: Error | null, found?: string | readonly LookupAddress[], family?: number) => void;
type Lookup = (host: string, options: object | Callback, callback?: Callback) => void;

/** A lookup that refuses names which lead to a metadata service. */
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
 * From now on, and in the whole program, no name leads to a metadata service: the check is the lookup of the connection itself, so
 * that a name which changes its address is refused too. `strictly`, where no workload identity is used, no request reaches
 * one by its address either, also when a server redirects there. What opens a store does nothing else.
 */
export function avoidMetadata({ strictly }: { readonly strictly: boolean }): void {
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
