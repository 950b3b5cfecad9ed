import { join } from 'node:path';
import { buildEtcd } from '../../lab/kubelet/image/etcd-build.ts';
import { downloadEtcd } from '../../lab/kubelet/image/etcd-download.ts';
import { findEtcd } from '../../lab/kubelet/image/etcd-programs.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';

const root = join(import.meta.dirname, '../..');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The etcd versions of the stories of `make test`. A new contributor builds these first. */
export const shortVersions: readonly EtcdVersion[] = ['3.5.35', '3.6.16', '3.7.3'];

/** The directories of these etcd versions. Each version is found, built or downloaded, as the lab does. */
export async function labPrograms(versions: readonly EtcdVersion[]): Promise<Record<string, string>> {
  const cache = cacheDirectory();
  const make = [buildEtcd({ cache, modules: join(root, 'tools/programs'), print }), downloadEtcd({ cache, print })];
  const directories: Record<string, string> = {};
  for (const version of versions) directories[version] = (await findEtcd(version, { cache, print, make })).directory;
  return directories;
}
