import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../../std/failure.ts';
import { busyboxDirectory } from './busybox.ts';
import { needsLibraries } from './elf.ts';
import { type EtcdSources, findEtcd, findUntagged } from './etcd-programs.ts';
import { hostLibraries } from './host-libraries.ts';
import { defaultPath, type FindImage, type Image, type Mount } from './image.ts';
import { type Reference, referenceOf, versionOf } from './reference.ts';

export interface CatalogOptions extends EtcdSources {
  /** The program that our own image runs: a file that Node can run, and the directory that it needs. */
  readonly operator: { readonly program: string; readonly package: string };
}

const known = 'the lab runs only etcd (any repository that ends in /etcd), busybox and etcd-operator';
const operatorUser = 65_532;
/** Our program does what its name says, and has those of the original's too. */
const operatorNames = ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'];
const namesakes = '/usr/local/lib/etcd-operator';
const compiledInside = '/var/cache/etcd-operator';

/** The images that the lab knows. Each is put together from what is on this machine, once. */
export function imageCatalog(options: CatalogOptions): FindImage {
  const made = new Map<string, Promise<Image>>();
  return (reference) => {
    const image = made.get(reference) ?? make(referenceOf(reference), options);
    made.set(reference, image);
    // What could not be had may be there later: it is looked for again when it is asked for again.
    image.catch(() => made.delete(reference));
    return image;
  };
}

async function make(reference: Reference, options: CatalogOptions): Promise<Image> {
  switch (reference.name) {
    case 'busybox':
      return await base(options, { id: 'busybox', command: ['sh'] });
    case 'etcd':
      return await etcdImage(reference, options);
    case 'etcd-operator':
      return await operatorImage(options);
    default:
      throw new Failure('not-found', `${reference.repository}:${reference.tag}: ${known}`);
  }
}

async function etcdImage({ repository, tag }: Reference, options: CatalogOptions): Promise<Image> {
  const version = versionOf(tag);
  if (version === undefined)
    throw new Failure('not-found', `${repository}:${tag}: the lab cannot tell an etcd version from the tag "${tag}"`);
  const programs = await (version === 'any' ? findUntagged(options) : findEtcd(version, options));
  options.say(`etcd ${programs.version}: from ${programs.from}`);
  const names = ['etcd', 'etcdctl', 'etcdutl'].filter((name) => existsSync(join(programs.directory, name)));
  return await base(options, {
    id: `etcd-${programs.version}`,
    command: ['/usr/local/bin/etcd'],
    env: etcdEnvironment(),
    mounts: names.map((name) => readOnly(join(programs.directory, name), `/usr/local/bin/${name}`)),
  });
}

/** Before 3.5, etcd starts on machines of other kinds only if somebody says so, as the project's own images for these do. */
export const etcdEnvironment = (machine: string = process.arch): Readonly<Record<string, string>> =>
  machine === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: machine };

/** Our own image: the very program that the lab was started from, with the same Node. */
async function operatorImage(options: CatalogOptions): Promise<Image> {
  const { program, package: directory } = options.operator;
  const script = join(options.cache, 'lab/operator/etcd-operator');
  const compiled = join(options.cache, 'lab/compiled');
  for (const place of [dirname(script), compiled]) await mkdir(place, { recursive: true });
  await writeFile(script, `#!/bin/sh\nexec /usr/local/bin/node ${namesakes}/"\${0##*/}" "$@"\n`);
  await chmod(script, 0o755);
  return await base(options, {
    id: 'etcd-operator',
    entrypoint: ['/usr/local/bin/etcd-operator'],
    user: operatorUser,
    // Sources are compiled once: the next start takes a fraction of the time.
    env: { NODE_ENV: 'production', NODE_COMPILE_CACHE: compiledInside },
    mounts: [
      readOnly(process.execPath, '/usr/local/bin/node'),
      ...operatorNames.map((name) => readOnly(script, `/usr/local/bin/${name}`)),
      readOnly(directory, directory),
      { source: compiled, target: compiledInside, readOnly: false },
    ],
    links: operatorNames.map((name) => ({ target: `${namesakes}/${name}`, to: program })),
  });
}

/** An image with busybox's tools and, where a program of it needs them, the host's libraries. */
async function base(options: CatalogOptions, own: Partial<Image> & { readonly id: string }): Promise<Image> {
  const tools = await busyboxDirectory(join(options.cache, 'lab'), options.say);
  const { mounts = [], links = [], env = {}, ...rest } = own;
  const programs = [join(tools, 'busybox'), ...mounts.map(({ source }) => source).filter((file) => isProgram(file))];
  const libraries = programs.some(needsLibraries) ? hostLibraries() : { mounts: [], links: [] };
  return {
    entrypoint: [],
    command: [],
    workingDir: '/',
    user: 0,
    ...rest,
    env: { PATH: defaultPath, ...env },
    mounts: [readOnly(tools, '/bin'), ...libraries.mounts, ...mounts],
    links: [
      ...libraries.links,
      ...links,
      ...['/sbin', '/usr/bin', '/usr/sbin'].map((target) => ({ target, to: '/bin' })),
    ],
  };
}

const isProgram = (file: string): boolean => /\/(?:etcd|etcdctl|etcdutl|node)$/.test(file);

const readOnly = (source: string, target: string): Mount => ({ source, target, readOnly: true });
