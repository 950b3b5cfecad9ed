import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type ObjectAddress, parseObjectUrl } from '../objectstore/address.ts';
import {
  type Compression,
  clusterSchema,
  compressions,
  ownerSchema,
  type SnapshotManifest,
} from '../objectstore/manifest.ts';
import { Failure } from '../std/failure.ts';

export type Verb = 'save' | 'inspect' | 'prove' | 'fetch' | 'prune' | 'place' | 'serve-store';

/** Flags of all agents that use a store: the object, its credentials, and where to report. */
export interface AgentFlags {
  readonly url: ObjectAddress;
  readonly credentials?: string;
  readonly secret: string;
  readonly volume?: string;
  readonly storeProxy?: string;
  readonly timeout?: number;
  readonly result?: string;
  readonly progressPort?: number;
}

export interface SaveFlags extends AgentFlags {
  readonly endpoints: readonly string[];
  readonly etcdTls?: string;
  readonly etcdUser?: string;
  readonly dated: boolean;
  readonly compression: Compression;
  readonly about: Pick<SnapshotManifest, 'owner' | 'cluster'>;
}

export interface InspectFlags extends AgentFlags {
  readonly targetVersion?: string;
  readonly reportCluster?: boolean;
}

export interface FetchFlags extends InspectFlags {
  readonly to?: string;
  readonly clear?: string;
  readonly maxBytes: number;
  readonly requireManifest?: boolean;
}

export interface ServeStoreFlags extends AgentFlags {
  readonly identity: string;
  readonly port: number;
}

export interface PruneFlags extends AgentFlags {
  readonly owner?: string;
  readonly ownerNamespace?: string;
  readonly below?: string;
  readonly keep?: number;
  readonly keepSeconds?: number;
}

/** Flags of `place`, which uses no store: it only moves a directory on a volume. */
export interface PlaceFlags {
  readonly staging: string;
  readonly to: string;
  readonly result?: string;
}

export type Task =
  | { readonly verb: 'place'; readonly flags: PlaceFlags }
  | { readonly verb: 'save'; readonly flags: SaveFlags }
  | { readonly verb: 'inspect'; readonly flags: InspectFlags }
  | { readonly verb: 'prove' | 'fetch'; readonly flags: FetchFlags }
  | { readonly verb: 'serve-store'; readonly flags: ServeStoreFlags }
  | { readonly verb: 'prune'; readonly flags: PruneFlags };

/** Larger than any etcd database. */
const defaultMaxBytes = 128 * 1024 ** 3;

/** Parses the arguments after `agent`. Invalid arguments are reported on stderr and end the program. */
export function taskFrom(args: readonly string[]): Task {
  let task: Task | undefined;
  const program = new Command('etcd-operator agent').description(
    'commands that run in the Pods of backups and restores',
  );
  const add = (verb: Verb, description: string): Command =>
    withCommonFlags(program.command(verb).description(description)).action((flags) => {
      task = { verb, flags } as Task;
    });
  addSave(add('save', 'stream a snapshot of etcd into a store'));
  addInspect(add('inspect', 'check the start and the manifest of a stored snapshot, without reading it to its end'));
  addFetch(add('prove', 'read a stored snapshot to its end and verify its hash'));
  addFetch(add('fetch', 'read a stored snapshot to its end, verify its hash and write it to a file'))
    .requiredOption('--to <file>', 'the file to write')
    .option('--clear <directory>', 'directory of an earlier attempt, deleted first')
    .option('--require-manifest', 'fail if the snapshot has no manifest or the manifest of another snapshot');
  addPlace(program.command('place')).action((flags: PlaceFlags) => {
    task = { verb: 'place', flags };
  });
  addServeStore(
    add('serve-store', 'serve one object of a store over HTTPS to clients that hold a token but no credentials'),
  );
  addPrune(add('prune', 'delete backups beyond the retention limits'));
  program.parse([...args], { from: 'user' });
  if (task === undefined)
    throw new Failure('rejected', 'no command given: use save, inspect, prove, fetch, place, serve-store or prune');
  return task;
}

const withCommonFlags = (command: Command): Command =>
  command
    .requiredOption('--url <url>', 'URL of the object: s3://bucket/key?…, gs://, azblob://, oss://, file://', objectUrl)
    .option(
      '--credentials <directory>',
      'mount directory of the Secret for the store; without it, the workload identity of the Pod is used',
    )
    .option('--secret <name>', 'name of that Secret, for messages', 'unnamed')
    .option('--volume <directory>', 'mount directory of the volume of a file:// store')
    .option(
      '--store-proxy <directory>',
      'mount directory of the Secret of a store proxy; the store is read through that proxy',
    )
    .option('--timeout <seconds>', 'timeout of the whole command', positive)
    .option('--result <file>', 'file for the result as JSON; /dev/termination-log in a Pod')
    .option('--progress-port <port>', 'port that serves the progress over HTTP', positive);

const addSave = (command: Command): Command =>
  command
    .requiredOption('--endpoints <urls>', 'client URLs of members of one cluster, separated by commas', endpoints)
    .option('--etcd-tls <directory>', 'mount directory of the Secret with the certificates for etcd')
    .option('--etcd-user <directory>', 'mount directory of the Secret with username and password for etcd')
    .option('--dated', 'add revision and date to the key', false)
    .option('--about <json>', 'owner and cluster as JSON, for the manifest', about, {})
    .addOption(new Option('--compression <how>').choices(compressions).default('none'));

const addFetch = (command: Command): Command =>
  addInspect(command).option(
    '--max-bytes <count>',
    'maximum size of the decompressed snapshot',
    positive,
    defaultMaxBytes,
  );

const addInspect = (command: Command): Command =>
  command
    .option('--target-version <version>', 'etcd version that is to read the snapshot')
    .option('--report-cluster', 'add the cluster spec of the manifest to the result');

const addPlace = (command: Command): Command =>
  command
    .description('move a restored data directory to its place, unless one exists there')
    .requiredOption('--staging <directory>', 'directory that holds the restored data as "data"; deleted afterwards')
    .requiredOption('--to <directory>', 'data directory of etcd')
    .option('--result <file>', 'file for the result as JSON; /dev/termination-log in a Pod');

const addServeStore = (command: Command): Command =>
  command
    .requiredOption('--identity <directory>', 'mount directory of the Secret with its certificate and token')
    .requiredOption('--port <port>', 'port to listen on', positive);

const addPrune = (command: Command): Command =>
  command
    .option('--owner <uid>', 'UID of the owner in manifests, in addition to dated names')
    .option('--owner-namespace <name>', 'namespace of the owner in manifests')
    .option('--below <prefix>', 'prefix of the keys of backups; by default the key of the object')
    .option('--keep <count>', 'how many of the newest backups to keep', positive)
    .option('--keep-seconds <seconds>', 'maximum age of a backup', positive);

function positive(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('must be a whole number, 1 or more');
}

function objectUrl(text: string): ObjectAddress {
  return orInvalid(() => parseObjectUrl(text, '--url'));
}

function endpoints(text: string): readonly string[] {
  const urls = text.split(',').filter((url) => url !== '');
  const wrong = urls.find((url) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ''));
  if (urls.length > 0 && wrong === undefined) return urls;
  throw new InvalidArgumentError(
    `must be http:// or https:// URLs, separated by commas${wrong ? `, not ${wrong}` : ''}`,
  );
}

const aboutSchema = z.strictObject({ owner: ownerSchema.optional(), cluster: clusterSchema.optional() });

function about(text: string): Pick<SnapshotManifest, 'owner' | 'cluster'> {
  return orInvalid(() => aboutSchema.parse(JSON.parse(text)));
}

function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
