import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { debianRoot } from '../debian/packages.ts';
import { cacheDirectory, keyOf, makeAtomically } from '../lib/cache.ts';
import { lock } from '../lib/lock.ts';
import { withProgress } from '../lib/progress.ts';
import { program, programDirectory } from '../programs/build.ts';
import { goModules } from '../programs/catalog.ts';
import { push } from './push.ts';
import { makeTestImages } from './test-images.ts';

/** Part of the cache key. Change it with the recipes of the test images; their programs are in the key already. */
const recipes = '2';

/** Registry storage with every test image. Each cluster starts from a copy. */
export const registrySeed = (): string => {
  const programs = goModules
    .filter(({ name }) => name.startsWith('etcd-') || name === 'registry')
    .map(programDirectory);
  return join(cacheDirectory(), 'registry', keyOf(recipes, debianRoot(), ...programs));
};

export async function makeRegistrySeed(): Promise<void> {
  if (existsSync(registrySeed())) return;
  using _held = await lock(join(cacheDirectory(), 'registry.lock'), (holder) =>
    process.stderr.write(`waiting for process ${holder}, which is building images\n`),
  );
  if (existsSync(registrySeed())) return;
  await withProgress('building the images of etcd, busybox and pause', () => makeAtomically(registrySeed(), fill));
}

async function fill(storage: string): Promise<void> {
  const layouts = `${storage}.images`;
  await rm(layouts, { recursive: true, force: true });
  await mkdir(layouts);
  const images = await makeTestImages(layouts);
  await withRegistry(storage, async (registry) => {
    for (const { layout, names } of images) for (const name of names) await push(layout, registry, name);
  });
  await rm(layouts, { recursive: true });
}

async function withRegistry(storage: string, work: (address: string) => Promise<void>): Promise<void> {
  const address = `127.0.0.1:${await freePort()}`;
  const config = `${storage}.yml`;
  await writeFile(config, registryConfig(storage, address));
  const server = spawn(program('registry', 'registry'), ['serve', config], { stdio: 'ignore' });
  try {
    await answering(`http://${address}/v2/`);
    await work(address);
  } finally {
    server.kill();
    await once(server, 'exit');
    await rm(config);
  }
}

export const registryConfig = (storage: string, address: string): string => `version: 0.1
log: { level: warn, accesslog: { disabled: true } }
storage:
  filesystem: { rootdirectory: ${storage} }
  delete: { enabled: true }
http: { addr: "${address}" }
`;

async function answering(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url).catch((error: unknown) => error);
    if (answer instanceof Response && answer.ok) return;
    if (tries > 100) throw new Error(`the registry does not answer at ${url}`, { cause: answer });
    await sleep(50);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
