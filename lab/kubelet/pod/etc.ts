import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../src/kube/object.ts';
import { layout } from '../../network/addresses.ts';
import { clusterDomain } from '../../network/names.ts';
import { specOf } from './plan.ts';

export const hostnameOf = ({ spec, metadata }: Pod): string => spec?.hostname ?? metadata.name.slice(0, 63);

/** Writes the pod's /etc: hosts, hostname, resolver and users. */
export async function writeEtc(directory: string, pod: Pod, address: string): Promise<string> {
  const etc = join(directory, 'etc');
  await mkdir(etc, { recursive: true });
  for (const [name, text] of Object.entries(etcFiles(pod, address))) await writeFile(join(etc, name), text);
  return etc;
}

export function etcFiles(pod: Pod, address: string): Readonly<Record<string, string>> {
  const { namespace = '' } = pod.metadata;
  const hostname = hostnameOf(pod);
  const { subdomain, hostAliases = [], securityContext } = specOf(pod);
  const full = subdomain === undefined ? '' : `${hostname}.${subdomain}.${namespace}.svc.${clusterDomain}\t`;
  const aliases = hostAliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}`);
  const search = [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  const user = securityContext?.runAsUser ?? 65_532;
  return {
    hosts: lines('127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost', `${address}\t${full}${hostname}`, ...aliases),
    hostname: lines(hostname),
    'resolv.conf': lines(`search ${search.join(' ')}`, `nameserver ${layout.dns}`, 'options ndots:5'),
    'nsswitch.conf': lines('hosts: files dns'),
    passwd: lines('root:x:0:0:root:/root:/bin/sh', `user:x:${user}:${user}:user:/:/bin/sh`),
    group: lines('root:x:0:', `user:x:${user}:`),
  };
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
