import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { Failure } from '../std/failure.ts';
import { type ObjectAddress, parseObjectUrl } from '../storage/address.ts';
import { type Compression, clusterSchema, compressions, type Manifest, ownerSchema } from '../storage/manifest.ts';

export type Verb = 'save' | 'look' | 'prove' | 'fetch' | 'prune' | 'place' | 'carry';

/** What every agent is told: where the object is, how to enter, and whom to tell. */
export interface AgentFlags {
  readonly url: ObjectAddress;
  readonly credentials?: string;
  readonly secret: string;
  readonly volume?: string;
  readonly courier?: string;
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
  readonly about: Pick<Manifest, 'owner' | 'cluster'>;
}

export interface LookFlags extends AgentFlags {
  readonly targetVersion?: string;
  readonly tellCluster?: boolean;
}

export interface FetchFlags extends LookFlags {
  readonly to?: string;
  readonly clear?: string;
  readonly maxBytes: number;
  readonly asDescribed?: boolean;
}

export interface CarryFlags extends AgentFlags {
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

/** Speaks to no store: it only moves what is on a disk already. */
export interface PlaceFlags {
  readonly staging: string;
  readonly to: string;
  readonly result?: string;
}

export type Task =
  | { readonly verb: 'place'; readonly flags: PlaceFlags }
  | { readonly verb: 'save'; readonly flags: SaveFlags }
  | { readonly verb: 'look'; readonly flags: LookFlags }
  | { readonly verb: 'prove' | 'fetch'; readonly flags: FetchFlags }
  | { readonly verb: 'carry'; readonly flags: CarryFlags }
  | { readonly verb: 'prune'; readonly flags: PruneFlags };

/** More than etcd itself can hold. */
const usualMaxBytes = 128 * 1024 ** 3;

/** Reads the words after `agent`. What is wrong with them is said on stderr, and ends the program. */
export function taskFrom(words: readonly string[]): Task {
  let task: Task | undefined;
  const program = new Command('etcd-operator agent').description('what runs in the pods of backups and restores');
  const add = (verb: Verb, description: string): Command =>
    withCommonFlags(program.command(verb).description(description)).action((flags) => {
      task = { verb, flags } as Task;
    });
  addSave(add('save', "stream etcd's snapshot into a store"));
  addLook(add('look', 'say what a stored snapshot is, without reading it to its end'));
  addFetch(add('prove', 'read a stored snapshot to its end, and check it'));
  addFetch(add('fetch', 'the same, and keep it as a file'))
    .requiredOption('--to <file>', 'the file')
    .option('--clear <directory>', 'removed first, with all that an earlier try has left in it')
    .option('--as-described', 'fail if the manifest beside it is of another snapshot, or none');
  addPlace(program.command('place')).action((flags: PlaceFlags) => {
    task = { verb: 'place', flags };
  });
  addCarry(add('carry', 'let one object be read by those who have no credentials'));
  addPrune(add('prune', 'delete backups beyond what is to be kept'));
  program.parse([...words], { from: 'user' });
  if (task === undefined)
    throw new Failure('rejected', 'say what to do: save, look, prove, fetch, place, carry or prune');
  return task;
}

const withCommonFlags = (command: Command): Command =>
  command
    .requiredOption('--url <url>', 'the object: s3://bucket/key?…, gs://, azblob://, oss://, file://', objectUrl)
    .option('--credentials <directory>', "where the store's Secret is mounted; without it, the pod's own identity")
    .option('--secret <name>', "that Secret's name, for messages", 'unnamed')
    .option('--volume <directory>', 'where the volume of a file:// store is mounted')
    .option('--courier <directory>', 'where the Secret of a courier is mounted, which opens the store in our place')
    .option('--timeout <seconds>', 'how long all of it may take', positive)
    .option('--result <file>', 'where the result goes, as JSON; in a pod /dev/termination-log')
    .option('--progress-port <port>', 'where progress is served over HTTP', positive);

const addSave = (command: Command): Command =>
  command
    .requiredOption('--endpoints <urls>', 'client URLs of members of one cluster, with commas between', endpoints)
    .option('--etcd-tls <directory>', 'where the Secret with the certificates for etcd is mounted')
    .option('--etcd-user <directory>', 'where the Secret with username and password for etcd is mounted')
    .option('--dated', 'add revision and date to the key', false)
    .option('--about <json>', 'owner and cluster, for the manifest', about, {})
    .addOption(new Option('--compression <how>').choices(compressions).default('none'));

const addFetch = (command: Command): Command =>
  addLook(command).option(
    '--max-bytes <count>',
    'the most that the unpacked snapshot may take',
    positive,
    usualMaxBytes,
  );

const addLook = (command: Command): Command =>
  command
    .option('--target-version <version>', 'the etcd that is to read it')
    .option('--tell-cluster', 'give back what the manifest says of the cluster');

const addPlace = (command: Command): Command =>
  command
    .description('put a data directory in its place, unless there is one')
    .requiredOption('--staging <directory>', 'where it was made, under the name "data"; removed afterwards')
    .requiredOption('--to <directory>', 'where etcd looks for it')
    .option('--result <file>', 'where the result goes, as JSON; in a pod /dev/termination-log');

const addCarry = (command: Command): Command =>
  command
    .requiredOption('--identity <directory>', 'where its certificate is mounted, and the token that it asks for')
    .requiredOption('--port <port>', 'where it listens', positive);

const addPrune = (command: Command): Command =>
  command
    .option('--owner <uid>', 'whose backups, beside those whose names tell')
    .option('--owner-namespace <name>', 'the namespace that the owner must be of')
    .option('--below <prefix>', 'what their keys begin with; by default the key of the object')
    .option('--keep <count>', 'how many of the newest stay', positive)
    .option('--keep-seconds <seconds>', 'how old a backup may become', positive);

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
    `must be http:// or https:// URLs with commas between${wrong ? `, not ${wrong}` : ''}`,
  );
}

const aboutSchema = z.strictObject({ owner: ownerSchema.optional(), cluster: clusterSchema.optional() });

function about(text: string): Pick<Manifest, 'owner' | 'cluster'> {
  return orInvalid(() => aboutSchema.parse(JSON.parse(text)));
}

function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
