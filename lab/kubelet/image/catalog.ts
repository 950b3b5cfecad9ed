import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../../src/std/failure.ts';
import { busyboxDirectory } from './busybox.ts';
import { needsLibraries } from './elf.ts';
import { type EtcdSources, findEtcd, findUntagged } from './etcd-programs.ts';
import { hostLibraries } from './host-libraries.ts';
import { defaultPath, type FindImage, type Image, type Mount } from './image.ts';
import { type Reference, referenceOf, versionOf } from './reference.ts';

export interface CatalogOptions extends EtcdSources {
  /** The program of the etcd-operator image: a file that Node runs, and the directory that contains its package. */
  readonly operator: { readonly program: string; readonly package: string };
}

const supportedImages = 'the lab runs only etcd (any repository that ends in /etcd), busybox and etcd-operator';
const operatorUser = 65_532;
/** The image has the names of the original operator's programs too; the name selects what the program does. */
const operatorNames = ['etcd-operator', 'etcd-backup-operator', 'etcd-restore-operator'];
const programLinks = '/usr/local/lib/etcd-operator';
const compiledInside = '/var/cache/etcd-operator';

/** The images of the lab. Each is assembled once from files on this machine. */
export function imageCatalog(options: CatalogOptions): FindImage {
  const images = new Map<string, Promise<Image>>();
  return (reference) => {
    const image = images.get(reference) ?? make(referenceOf(reference), options);
    images.set(reference, image);
    // A failed image is looked up again at the next request.
    image.catch(() => images.delete(reference));
    return image;
  };
}

async function make(reference: Reference, options: CatalogOptions): Promise<Image> {
  switch (reference.name) {
    case 'busybox':
      return await baseImage(options, { id: 'busybox', command: ['sh'] });
    case 'etcd':
      return await etcdImage(reference, options);
    case 'etcd-operator':
      return await operatorImage(options);
    default:
      throw new Failure('not-found', `${reference.repository}:${reference.tag}: ${supportedImages}`);
  }
}

async function etcdImage({ repository, tag }: Reference, options: CatalogOptions): Promise<Image> {
  const version = versionOf(tag);
  if (version === undefined)
    throw new Failure('not-found', `${repository}:${tag}: tag "${tag}" is not an etcd version`);
  const programs = await (version === 'any' ? findUntagged(options) : findEtcd(version, options));
  options.print(`etcd ${programs.version}: from ${programs.from}`);
  const names = ['etcd', 'etcdctl', 'etcdutl'].filter((name) => existsSync(join(programs.directory, name)));
  return await baseImage(options, {
    id: `etcd-${programs.version}`,
    command: ['/usr/local/bin/etcd'],
    env: etcdEnvironment(),
    mounts: names.map((name) => readOnly(join(programs.directory, name), `/usr/local/bin/${name}`)),
  });
}

/**
 * Before 3.5, etcd refuses to start on other architectures without this variable. The project's own images set it too.
 */
export const etcdEnvironment = (machine: string = process.arch): Readonly<Record<string, string>> =>
  machine === 'x64' ? {} : { ETCD_UNSUPPORTED_ARCH: machine };

/** The operator's image: the program and the Node that the lab itself runs from. */
async function operatorImage(options: CatalogOptions): Promise<Image> {
  const { program, package: directory } = options.operator;
  const script = join(options.cache, 'lab/operator/etcd-operator');
  const compiled = join(options.cache, 'lab/compiled');
  for (const place of [dirname(script), compiled]) await mkdir(place, { recursive: true });
  await writeFile(script, `#!/bin/sh\nexec /usr/local/bin/node ${programLinks}/"\${0##*/}" "$@"\n`);
  await chmod(script, 0o755);
  return await baseImage(options, {
    id: 'etcd-operator',
    entrypoint: ['/usr/local/bin/etcd-operator'],
    user: operatorUser,
    // A compile cache makes the next start several times faster.
    env: { NODE_ENV: 'production', NODE_COMPILE_CACHE: compiledInside },
    mounts: [
      readOnly(process.execPath, '/usr/local/bin/node'),
      ...operatorNames.map((name) => readOnly(script, `/usr/local/bin/${name}`)),
      readOnly(directory, directory),
      { source: compiled, target: compiledInside, readOnly: false },
    ],
    links: operatorNames.map((name) => ({ target: `${programLinks}/${name}`, to: program })),
  });
}

/** An image with busybox's applets and, if one of its programs needs them, the host's shared libraries. */
async function baseImage(options: CatalogOptions, own: Partial<Image> & { readonly id: string }): Promise<Image> {
  const tools = await busyboxDirectory(join(options.cache, 'lab'), options.print);
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
