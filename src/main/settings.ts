import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { checkUrls, type OperatorsStore } from '../controllers/agents/operators-store.ts';
import { isRepositoryWithoutDigest } from '../dialects/image.ts';
import type { Restrictions } from '../dialects/restrictions.ts';
import { Failure } from '../std/failure.ts';
import { allDialects, type DialectName } from './served.ts';
import { flag, refusalOfFlags, withReachFlags } from './settings-checks.ts';
import { type RestrictionFlags, restrictionsOf, withRestrictionFlags } from './shared.ts';
import { version } from './version.ts';

/** All that the program is told: read once, here, and passed down. Nothing else looks at flags or the environment. */
export interface Settings {
  /** Without a host, everywhere. */
  readonly listenAddress: { readonly host: string | undefined; readonly port: number };
  readonly createCrd: boolean;
  readonly clusterWide: boolean;
  /** The namespaces to serve in place of the operator's own; `*` is all of them. */
  readonly namespaces: readonly string[] | undefined;
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly podName: string | undefined;
  readonly podNamespace: string | undefined;
  readonly workers: number;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  readonly chaosLevel: number;
  readonly reachPods: 'auto' | 'direct' | 'port-forward';
  /** Which APIs to serve; where nothing is said, those that we may see. */
  readonly dialects: readonly DialectName[] | undefined;
  /** The Lease that is ours while we work; none when nobody takes turns with us. */
  readonly lease: string | undefined;
  /** What members run where a cluster does not say it. */
  readonly etcdRepository: string | undefined;
  /** What was said, and has no effect here. */
  readonly ignored: readonly string[];
  /** What it looks after; the original has a program for each. */
  readonly groups: readonly Group[];
  /** The images of agents; by default the operator's own. */
  readonly agentImages: { readonly backup: string | undefined; readonly restore: string | undefined };
  /** Whether to say of clusters that they have no TLS. */
  readonly warnPlaintext: boolean;
  /** What specs may ask for of pods. */
  readonly restrictions: Restrictions;
  /** What opens stores for backups that name no credentials of their own. */
  readonly store: Omit<OperatorsStore, 'namespace'>;
  /** Which requests for /metrics are answered. */
  readonly metrics: { readonly loopbackOnly: boolean; readonly tokenFile: string | undefined };
}

export type Group = 'clusters' | 'backups' | 'restores';

/** By the name it is called by, the program does what the original's of that name does; by its own, everything. */
const groupsOf: Readonly<Record<string, readonly Group[]>> = {
  'etcd-backup-operator': ['backups'],
  'etcd-restore-operator': ['restores'],
};

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Environment = Readonly<Record<string, string | undefined>>;

/** Go programs take flags with one dash as well as with two, and so do manifests that were written for one. */
const withTwoDashes = (word: string): string => (/^-[a-z][a-z-]+(=|$)/.test(word) ? `-${word}` : word);

/** To Go programs all of these mean IPv6 too, and pods of some clusters have no other address to be probed at. */
const everywhere: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

function address(text: string): Settings['listenAddress'] {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (port === '') throw new InvalidArgumentError('must be an address and a port, such as 0.0.0.0:8080');
  return { host: everywhere.has(host) ? undefined : host, port: Number(port) };
}

function count(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError('must be a whole number, 1 or more');
}

function repository(name: string): string {
  if (isRepositoryWithoutDigest(name)) return name;
  throw new InvalidArgumentError('must be an image name without tag or digest, such as quay.io/coreos/etcd');
}

const isDialect = (name: string): name is DialectName => Object.hasOwn(allDialects, name);

function dialectNames(text: string): readonly DialectName[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every(isDialect)) return [...new Set(names)];
  throw new InvalidArgumentError(`must be one or more of ${Object.keys(allDialects).join(',')}`);
}

function storeUrls(text: string): readonly string[] {
  const urls = text.split(',');
  try {
    checkUrls(urls);
    return urls;
  } catch (thrown) {
    throw new InvalidArgumentError(Failure.from(thrown).message);
  }
}

interface Flags extends RestrictionFlags {
  readonly dialects?: readonly DialectName[];
  readonly metricsAddr?: Settings['listenAddress'];
  readonly enableLeaderElection: boolean;
  readonly leaderElectionId: string;
  readonly etcdRepository?: string;
  readonly proxyUrl?: string;
  readonly listenAddr: Settings['listenAddress'];
  readonly createCrd: boolean;
  readonly clusterWide: boolean;
  readonly namespaces?: readonly string[];
  readonly metricsLoopbackOnly: boolean;
  readonly metricsTokenFile?: string;
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly workers: number;
  readonly logLevel: LogLevel;
  readonly logFormat: Settings['logFormat'];
  readonly chaosLevel: number;
  readonly reachPods: Settings['reachPods'];
  readonly agentImage?: string;
  readonly backupAgentImage?: string;
  readonly restoreAgentImage?: string;
  readonly storeSecret?: string;
  readonly storeServiceAccount?: string;
  readonly storeUrls?: readonly string[];
}

const command = (): Command =>
  new Command('etcd-operator')
    .description('an automated etcd administrator for Kubernetes')
    .addArgument(
      new Argument('[command]', "what to do; 'lab' and 'agent' have flags of their own")
        .choices(['run'])
        .default('run'),
    )
    .addOption(
      new Option('--listen-addr <address>', 'where /readyz, /livez and /metrics are')
        .argParser(address)
        .default(address('0.0.0.0:8080'), '0.0.0.0:8080'),
    )
    .option('--create-crd [bool]', 'create the CustomResourceDefinition if it is not there', flag, true)
    .option('--cluster-wide [bool]', 'look after annotated clusters in all namespaces', flag, false)
    .option('--chaos-level <level>', 'kill members at random, for tests: 1 one at a time, 2 up to five', Number, -1)
    .option('--dialects <names>', 'which APIs to serve: coreos,improbable; by default those it may see', dialectNames)
    .option('--metrics-addr <address>', 'the same as --listen-addr', address)
    .option('--enable-leader-election [bool]', 'take turns with other replicas', flag, true)
    .option('--leader-election-id <name>', 'name of the Lease by which replicas take turns', 'etcd-operator')
    .option('--etcd-repository <image>', 'image without tag or digest, for clusters that name none', repository)
    .option('--proxy-url <host>', 'accepted, without effect')
    .option('--gc-interval <duration>', 'accepted, without effect')
    .option('--kubeconfig <file>', 'how to reach the API server, when not inside the cluster')
    .option('--namespace <name>', 'the one namespace to look after; by default the one it runs in')
    .option('--agent-image <image>', 'what pods of backups and restores run; by default what the operator runs')
    .option('--backup-agent-image <image>', 'the same for pods of backups alone')
    .option('--restore-agent-image <image>', 'the same for pods of restores alone')
    .option('--store-secret <name>', 'Secret beside the operator, for backups and restores that name no credentials')
    .option('--store-service-account <name>', 'the same by workload identity: the account of their agents')
    .option('--store-urls <urls>', 'where those may be: s3://bucket/{{ .Namespace }}/, with commas', storeUrls)
    .option('--workers <count>', 'how many clusters are looked after side by side, in each of --namespaces', count, 16)
    .addOption(
      new Option('--reach-pods <how>', 'how to reach etcd; with --kubeconfig, auto finds out')
        .choices(['auto', 'direct', 'port-forward'])
        .default('auto'),
    )
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .addOption(new Option('--log-format <format>').choices(['json', 'text']).default('json'))
    .version(`etcd-operator ${version}`, '--version', 'print the version and exit');

/** Reads flags and environment. What is wrong with a flag is said on stderr, and ends the program. */
export function settingsFrom(words: readonly string[], env: Environment, name = 'etcd-operator'): Settings {
  const program = withRestrictionFlags(withReachFlags(command())).parse(words.map(withTwoDashes), { from: 'user' });
  const settings = settingsOf(program.opts<Flags>(), env, name);
  const refusal = refusalOfFlags(settings);
  return refusal === undefined ? settings : program.error(`error: ${refusal}`);
}

function settingsOf(flags: Flags, env: Environment, name: string): Settings {
  const { createCrd, clusterWide, kubeconfig, namespace, workers, logLevel, logFormat, chaosLevel, reachPods } = flags;
  return {
    ...{ createCrd, clusterWide, kubeconfig, namespace, workers, logLevel, logFormat, chaosLevel, reachPods },
    namespaces: flags.namespaces,
    metrics: { loopbackOnly: flags.metricsLoopbackOnly, tokenFile: flags.metricsTokenFile },
    ...{ dialects: flags.dialects, etcdRepository: flags.etcdRepository, ignored: ignoredIn(flags, env) },
    listenAddress: flags.metricsAddr ?? flags.listenAddr,
    lease: flags.enableLeaderElection ? flags.leaderElectionId : undefined,
    agentImages: agentImagesIn(flags),
    warnPlaintext: flags.warnPlaintext,
    restrictions: restrictionsOf(flags, {
      clusterWide,
      namespaces: flags.namespaces,
      etcdRepository: flags.etcdRepository,
    }),
    store: storeOf(flags),
    groups: groupsOf[name] ?? ['clusters', 'backups', 'restores'],
    podName: env['MY_POD_NAME'],
    podNamespace: env['MY_POD_NAMESPACE'],
  };
}

const agentImagesIn = ({ agentImage, backupAgentImage, restoreAgentImage }: Flags): Settings['agentImages'] => ({
  backup: backupAgentImage ?? agentImage,
  restore: restoreAgentImage ?? agentImage,
});

const storeOf = ({ storeSecret, storeServiceAccount, storeUrls: urls = [] }: Flags): Settings['store'] => ({
  ...{ secret: storeSecret, serviceAccountName: storeServiceAccount, urls },
});

const ignoredIn = ({ proxyUrl }: Flags, env: Environment): readonly string[] => [
  ...(proxyUrl === undefined ? [] : ['--proxy-url']),
  ...(env['DISABLE_WEBHOOKS'] === undefined ? [] : ['DISABLE_WEBHOOKS']),
];
