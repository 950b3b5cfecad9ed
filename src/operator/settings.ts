import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { isRepositoryWithoutDigest } from '../apis/common/image.ts';
import type { Restrictions } from '../apis/common/restrictions.ts';
import { checkUrls, type OperatorStore } from '../controllers/shared/operator-store.ts';
import { Failure } from '../std/failure.ts';
import { type RestrictionFlags, restrictionsOf, withRestrictionFlags } from './restriction-flags.ts';
import { flag, refusalOfFlags, withReachFlags } from './settings-checks.ts';
import { operatorVersion } from './version.ts';
import { allDialects, type DialectName } from './wiring/served.ts';

/** The settings of the operator. Only this file reads flags and environment. */
export interface Settings {
  /** Without a host, all addresses. */
  readonly listenAddress: { readonly host: string | undefined; readonly port: number };
  readonly createCrd: boolean;
  readonly clusterWide: boolean;
  /** The namespaces to serve instead of the operator's own; `*` for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly kubeconfig: string | undefined;
  readonly namespace: string | undefined;
  readonly podName: string | undefined;
  readonly podNamespace: string | undefined;
  readonly workers: number;
  /** The most clusters that roll at once. */
  readonly maxRolls: number;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  readonly chaosLevel: number;
  readonly reachPods: 'auto' | 'direct' | 'port-forward';
  /** The APIs to serve; by default those with clusters that can be listed. */
  readonly dialects: readonly DialectName[] | undefined;
  /** The name of the Lease; undefined without leader election. */
  readonly lease: string | undefined;
  /** The default repository of etcd images. */
  readonly etcdRepository: string | undefined;
  /** Settings that were given and have no effect. */
  readonly ignored: readonly string[];
  /** The groups of controllers to run. The original has a program for each. */
  readonly groups: readonly Group[];
  /** The images of agents; by default the operator's image. */
  readonly agentImages: { readonly backup: string | undefined; readonly restore: string | undefined };
  /** True to warn about clusters without TLS. */
  readonly warnPlaintext: boolean;
  /** Limits for pods in specs. */
  readonly restrictions: Restrictions;
  /** The operator's store credentials, for backups without credentials. */
  readonly store: Omit<OperatorStore, 'namespace'>;
  /** Access to /metrics. */
  readonly metrics: { readonly loopbackOnly: boolean; readonly tokenFile: string | undefined };
}

export type Group = 'clusters' | 'backups' | 'restores';

/** The groups by program name. Under the name of an original program only its group runs; otherwise all run. */
const groupsOf: Readonly<Record<string, readonly Group[]>> = {
  'etcd-backup-operator': ['backups'],
  'etcd-restore-operator': ['restores'],
};

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

type Environment = Readonly<Record<string, string | undefined>>;

/** Go programs accept flags with one dash, so manifests of the originals may use one. */
const withTwoDashes = (argument: string): string => (/^-[a-z][a-z-]+(=|$)/.test(argument) ? `-${argument}` : argument);

/** In Go programs these mean IPv4 and IPv6. Pods of IPv6-only clusters are probed at IPv6 addresses. */
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
  readonly maxRolls: number;
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
    .addArgument(new Argument('[command]', "the command; 'agent' has its own flags").choices(['run']).default('run'))
    .addOption(
      new Option('--listen-addr <address>', 'address of /readyz, /livez and /metrics')
        .argParser(address)
        .default(address('0.0.0.0:8080'), '0.0.0.0:8080'),
    )
    .option('--create-crd [bool]', 'create missing CustomResourceDefinitions', flag, true)
    .option('--cluster-wide [bool]', 'serve annotated clusters in all namespaces', flag, false)
    .option('--chaos-level <level>', 'kill random members, for tests: 1 for one, 2 for up to five at once', Number, -1)
    .option('--dialects <names>', 'APIs to serve: coreos,improbable; default: those that can be listed', dialectNames)
    .option('--metrics-addr <address>', 'same as --listen-addr', address)
    .option('--enable-leader-election [bool]', 'use a Lease, so that only one replica is active', flag, true)
    .option('--leader-election-id <name>', 'name of the Lease', 'etcd-operator')
    .option('--etcd-repository <image>', 'default etcd image, without tag or digest', repository)
    .option('--proxy-url <host>', 'accepted for compatibility, no effect')
    .option('--gc-interval <duration>', 'accepted for compatibility, no effect')
    .option('--kubeconfig <file>', 'kubeconfig file, for an operator outside the cluster')
    .option('--namespace <name>', 'namespace to serve; default: the namespace of the operator')
    .option('--workers <count>', 'number of clusters reconciled in parallel, in each of --namespaces', count, 16)
    .option('--max-rolls <count>', 'number of clusters that roll a change out at once', count, 20)
    .addOption(
      new Option('--reach-pods <how>', 'how to reach etcd; auto tries pod addresses first with --kubeconfig')
        .choices(['auto', 'direct', 'port-forward'])
        .default('auto'),
    )
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .addOption(new Option('--log-format <format>').choices(['json', 'text']).default('json'))
    .version(`etcd-operator ${operatorVersion}`, '--version', 'print the version and exit');

/** Adds the flags for the agents of backups and restores. */
const withAgentFlags = (program: Command): Command =>
  program
    .option('--agent-image <image>', 'image of backup and restore pods; default: the image of the operator')
    .option('--backup-agent-image <image>', 'same as --agent-image, for backup pods only')
    .option('--restore-agent-image <image>', 'same as --agent-image, for restore pods only')
    .option('--store-secret <name>', "Secret in the operator's namespace, for backups and restores without credentials")
    .option('--store-service-account <name>', 'ServiceAccount of agents, for backups and restores without credentials')
    .option(
      '--store-urls <urls>',
      "URLs allowed with the operator's credentials, separated by commas: s3://bucket/{{ .Namespace }}/",
      storeUrls,
    );

/** The command line of the operator. The reference page of flags is generated from it. */
export const operatorCommand = (): Command => withRestrictionFlags(withReachFlags(withAgentFlags(command())));

/** Reads flags and environment. An invalid flag is reported on stderr and ends the program. */
export function settingsFrom(args: readonly string[], env: Environment, name = 'etcd-operator'): Settings {
  const program = operatorCommand();
  program.parse(args.map(withTwoDashes), { from: 'user' });
  const settings = settingsOf(program.opts<Flags>(), env, name);
  const refusal = refusalOfFlags(settings);
  return refusal === undefined ? settings : program.error(`error: ${refusal}`);
}

function settingsOf(flags: Flags, env: Environment, name: string): Settings {
  const { createCrd, clusterWide, kubeconfig, namespace, workers, logLevel, logFormat, chaosLevel, reachPods } = flags;
  return {
    createCrd,
    clusterWide,
    kubeconfig,
    namespace,
    workers,
    maxRolls: flags.maxRolls,
    logLevel,
    logFormat,
    chaosLevel,
    reachPods,
    namespaces: flags.namespaces,
    metrics: { loopbackOnly: flags.metricsLoopbackOnly, tokenFile: flags.metricsTokenFile },
    dialects: flags.dialects,
    etcdRepository: flags.etcdRepository,
    ignored: ignoredIn(flags, env),
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
  secret: storeSecret,
  serviceAccountName: storeServiceAccount,
  urls,
});

const ignoredIn = ({ proxyUrl }: Flags, env: Environment): readonly string[] => [
  ...(proxyUrl === undefined ? [] : ['--proxy-url']),
  ...(env['DISABLE_WEBHOOKS'] === undefined ? [] : ['DISABLE_WEBHOOKS']),
];
