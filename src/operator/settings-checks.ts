import { type Command, InvalidArgumentError } from 'commander';
import { everyNamespace, isShared, type Reach } from './reach.ts';
import type { Settings } from './settings.ts';

/** Parses a boolean flag. */
export const flag = (text: string | true): boolean => {
  if (text === true || text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('must be true or false');
};

/** Adds the flags for served namespaces and for access to metrics. */
export const withReachFlags = (command: Command): Command =>
  command
    .option('--namespaces <names>', 'namespaces to serve, separated by commas; * for all', namespaceNames)
    .option('--metrics-loopback-only [bool]', 'serve /metrics only on loopback addresses', flag, false)
    .option('--metrics-token-file <file>', 'require the bearer token in this file for /metrics');

const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Parses `--namespaces`: names separated by commas, or `*`. */
export function namespaceNames(text: string): readonly string[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  if (text.trim() === everyNamespace || names.every((name) => namespaceName.test(name))) return names;
  throw new InvalidArgumentError(`must be names of namespaces separated by commas, or ${everyNamespace} for all`);
}

type Checked = Reach & Pick<Settings, 'namespace' | 'store'>;

/** Why the flags cannot be combined; undefined if they can. */
export const refusalOfFlags = (checked: Checked): string | undefined =>
  refusalOfNamespaces(checked) ?? refusalOfStore(checked.store, checked);

function refusalOfNamespaces({ namespaces, namespace, clusterWide }: Checked): string | undefined {
  if (namespaces === undefined) return undefined;
  if (clusterWide)
    return '--namespaces and --cluster-wide exclude each other: the first names the namespaces to serve, the second serves all';
  if (namespace === undefined) return undefined;
  return '--namespaces and --namespace exclude each other: put the one namespace into --namespaces';
}

function refusalOfStore(store: Settings['store'], reach: Reach): string | undefined {
  const credentials = flagOf(store);
  if (credentials === undefined || store.urls.length > 0 || !isShared(reach)) return undefined;
  return (
    `${credentials} with ${reach.clusterWide ? '--cluster-wide' : '--namespaces'} needs --store-urls: without it, backups of ` +
    "every namespace could be written to any URL that the operator's credentials allow; list the allowed URLs, such as " +
    "--store-urls='s3://bucket/{{ .Namespace }}/'"
  );
}

function flagOf({ secret, serviceAccountName }: Settings['store']): string | undefined {
  if (secret !== undefined) return '--store-secret';
  return serviceAccountName === undefined ? undefined : '--store-service-account';
}
