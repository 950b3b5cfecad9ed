import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StoreAddress, urlOf } from '../../src/objectstore/address.ts';
import { readCredentials } from '../../src/objectstore/credentials.ts';
import { openStore } from '../../src/objectstore/open.ts';
import type { ObjectStore } from '../../src/objectstore/store.ts';
import { program } from '../../tools/programs/build.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

/** A store server on this machine, with one bucket. */
export interface StoreServer extends AsyncDisposable {
  readonly port: number;
  readonly address: StoreAddress;
  /** The content of the Secret with its credentials. */
  readonly secret: Readonly<Record<string, string>>;
  /** A directory that is deleted with the server. */
  readonly directory: string;
  readonly volume?: string;
}

export const bucket = 'backups';
const region = 'us-east-1';
export const s3Keys = { id: 'test-access', secret: 'test-secret-0123456789' };

/** A Secret as the coreos API documents it. */
export const awsSecret = (id = s3Keys.id, secret = s3Keys.secret): Readonly<Record<string, string>> => ({
  credentials: `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`,
  config: `[default]\nregion = ${region}\n`,
});

interface Listening {
  /** The address of the server. */
  readonly host?: string;
}

/** Starts versitygw, which stores a bucket as a directory. With a domain, the bucket is part of the host name. */
export async function startS3({
  domain,
  root,
  host = '127.0.0.1',
}: Listening & { readonly domain?: string; readonly root?: string } = {}): Promise<StoreServer> {
  const started = await start('versitygw', ({ port, directory }) => {
    const data = join(root ?? directory, 'buckets');
    mkdirSync(join(data, bucket), { recursive: true });
    const virtual = domain === undefined ? [] : ['--virtual-domain', domain];
    const flags = ['--quiet', '--port', `${host}:${port}`, ...virtual, '--keep-alive'];
    return {
      host,
      flags: [...flags, 'posix', data],
      env: { ROOT_ACCESS_KEY: s3Keys.id, ROOT_SECRET_KEY: s3Keys.secret },
    };
  });
  const endpoint = `http://${domain ?? host}:${started.port}`;
  const style = domain === undefined ? ({ pathStyle: true } as const) : {};
  return { ...started, address: { kind: 's3', bucket, endpoint, ...style }, secret: awsSecret() };
}

export async function startGcs({ host = '127.0.0.1' }: Listening = {}): Promise<StoreServer> {
  const started = await start('fake-gcs-server', ({ port, directory }) => {
    mkdirSync(join(directory, 'data', bucket), { recursive: true });
    const listen = ['-scheme', 'http', '-host', host, '-port', String(port)];
    const url = `http://${host}:${port}`;
    const names = ['-external-url', url, '-public-host', `${host}:${port}`];
    return {
      host,
      flags: [...listen, ...names, '-backend', 'memory', '-data', join(directory, 'data'), '-log-level', 'error'],
    };
  });
  const endpoint = `http://${host}:${started.port}`;
  return { ...started, address: { kind: 'gcs', bucket, endpoint }, secret: { 'access-token': 'test-token' } };
}

/** The documented account and key of Azurite. */
const azureAccount = 'devstoreaccount1';
const azureKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export async function startAzure({ host = '127.0.0.1' }: Listening = {}): Promise<StoreServer> {
  const started = await start('azurite', ({ port }) => {
    const listen = ['--blobHost', host, '--blobPort', String(port)];
    return { host, flags: [...listen, '--inMemoryPersistence', '--silent', '--skipApiVersionCheck'] };
  });
  const endpoint = `http://${host}:${started.port}/${azureAccount}`;
  const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob');
  const service = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(azureAccount, azureKey));
  await service.createContainer(bucket);
  const secret = { 'storage-account': azureAccount, 'storage-key': azureKey };
  return { ...started, address: { kind: 'azblob', bucket, endpoint }, secret };
}

/** A directory instead of a mounted volume. */
export async function startVolume(): Promise<StoreServer> {
  const directory = mkdtempSync(join(tmpdir(), 'volume-'));
  const volume = join(directory, 'volume');
  mkdirSync(volume);
  const remove = async (): Promise<void> => rmSync(directory, { recursive: true, force: true });
  return { port: 0, directory, volume, address: { kind: 'file', bucket }, secret: {}, [Symbol.asyncDispose]: remove };
}

/** Writes a Secret as files, as in a mounted volume. */
export function mountSecret(directory: string, name: string, secret: Readonly<Record<string, string>>): string {
  const mounted = join(directory, name);
  mkdirSync(mounted, { recursive: true });
  for (const [key, value] of Object.entries(secret)) writeFileSync(join(mounted, key), value);
  return mounted;
}

export interface Opening {
  /** Replaces the Secret of the server. */
  readonly secret?: Readonly<Record<string, string>>;
  readonly address?: Partial<StoreAddress>;
  readonly idleMillis?: number;
}

let secrets = 0;

/** Opens the store as an agent does, with a Secret named "store-secret". */
export async function openOn(server: StoreServer, opening: Opening = {}): Promise<ObjectStore> {
  const mounted = mountSecret(server.directory, `secret-${secrets++}`, opening.secret ?? server.secret);
  const { volume } = server;
  return openStore(
    { ...server.address, ...opening.address },
    {
      credentials: await readCredentials(mounted, 'store-secret'),
      volume,
      guard: opening.idleMillis === undefined ? {} : { idleMillis: opening.idleMillis },
    },
  );
}

/** The flags of an agent for this store. */
export function agentFlags(server: StoreServer, key: string): readonly string[] {
  const mounted = mountSecret(server.directory, 'agents-secret', server.secret);
  const volume = server.volume === undefined ? [] : ['--volume', server.volume];
  return [
    '--url',
    urlOf({ store: server.address, key }),
    '--credentials',
    mounted,
    '--secret',
    'store-secret',
    ...volume,
  ];
}

interface Location {
  readonly port: number;
  readonly directory: string;
}

interface LaunchOptions {
  readonly host?: string;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const commands: Readonly<Record<string, () => readonly string[]>> = {
  versitygw: () => [program('versitygw', 'versitygw')],
  'fake-gcs-server': () => [program('fake-gcs-server', 'fake-gcs-server')],
  azurite: () => [process.execPath, join(import.meta.dirname, '../../node_modules/azurite/dist/src/blob/main.js')],
};

async function start(name: string, recipe: (location: Location) => LaunchOptions): Promise<Location & AsyncDisposable> {
  const directory = mkdtempSync(join(tmpdir(), `${name}-`));
  const [port = 0] = await freePorts(1);
  const { flags, env, host } = recipe({ port, directory });
  const log = openSync(join(directory, 'log'), 'a');
  // The kernel kills the server when this process ends.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...(commands[name]?.() ?? []), ...flags], {
    stdio: ['ignore', log, log],
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, ...env },
  });
  closeSync(log);
  await until(`${name} listens`, () => listening(child, { port, host: host ?? '127.0.0.1' })).catch(
    (error: unknown) => {
      throw new Error(`${name} did not start:\n${readFileSync(join(directory, 'log'), 'utf8')}`, { cause: error });
    },
  );
  return { port, directory, [Symbol.asyncDispose]: () => stop(child, directory) };
}

async function listening(
  child: ChildProcess,
  at: { readonly port: number; readonly host: string },
): Promise<true | undefined> {
  if (child.exitCode !== null) return undefined;
  const socket = connect(at);
  await once(socket, 'connect').finally(() => socket.destroy());
  return true;
}

async function stop(child: ChildProcess, directory: string): Promise<void> {
  const ended = child.exitCode === null ? once(child, 'exit') : undefined;
  child.kill('SIGKILL');
  await ended;
  rmSync(directory, { recursive: true, force: true });
}
