import { join } from 'node:path';
import { buildEtcd } from '../../src/lab/node/image/etcd-build.ts';
import { downloadEtcd } from '../../src/lab/node/image/etcd-download.ts';
import { findEtcd } from '../../src/lab/node/image/etcd-programs.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';

const root = join(import.meta.dirname, '../..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What the stories of `make test` use: a newcomer builds these first. */
export const shortVersions: readonly EtcdVersion[] = ['3.5.35', '3.6.16', '3.7.3'];

/** The directories of these versions, each found, built or fetched, as the lab itself would do it. */
export async function labPrograms(versions: readonly EtcdVersion[]): Promise<Record<string, string>> {
  const cache = cacheDirectory();
  const make = [buildEtcd({ cache, modules: join(root, 'tools/programs'), say }), downloadEtcd({ cache, say })];
  const directories: Record<string, string> = {};
  for (const version of versions) directories[version] = (await findEtcd(version, { cache, say, make })).directory;
  return directories;
}
