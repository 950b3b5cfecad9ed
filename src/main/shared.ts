import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Restrictions, restrictionFlags, sharedRestrictions, type UidRange } from '../dialects/restrictions.ts';
import { isShared } from './reach.ts';
import type { Settings } from './settings.ts';
import { flag } from './settings-checks.ts';

/** As the flags say it: a list, or a star for anything. */
export interface RestrictionFlags {
  readonly warnPlaintext: boolean;
  readonly allowedValueFrom?: readonly string[];
  readonly allowedRepositories?: readonly string[];
  readonly allowedServiceAccounts?: readonly string[];
  readonly allowedUids?: readonly UidRange[] | readonly ['*'];
}

const listed = (text: string): readonly string[] => text.split(',').map((each) => each.trim());

function ranges(text: string): NonNullable<RestrictionFlags['allowedUids']> {
  if (text === '*') return ['*'];
  return listed(text).map((each) => {
    const [, from, to] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(each) ?? [];
    if (from === undefined) throw new InvalidArgumentError('must be users or ranges of them, such as 1000-2000,65532');
    return { from: Number(from), to: Number(to ?? from) };
  });
}

const byDefault = 'by default anything; with --cluster-wide or --namespaces';

export function withRestrictionFlags(command: Command): Command {
  const { valueFrom, repositories, serviceAccounts } = sharedRestrictions;
  return command
    .addOption(
      new Option(
        `${restrictionFlags.valueFrom} <kinds>`,
        `sources of variables that clusters may use; ${byDefault} ${valueFrom.join(',')}; * for anything`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.repositories} <images>`,
        `images that members may run, without tag, or with a slash at the end for all below; ${byDefault} ${repositories.join(',')}`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.serviceAccounts} <names>`,
        `accounts under which pods may run; ${byDefault} ${serviceAccounts.join(',')}`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.uids} <ranges>`,
        `users as which members may run, such as 1000-2000,65532; ${byDefault} any but root`,
      ).argParser(ranges),
    )
    .option('--warn-plaintext [bool]', 'say of clusters without TLS that they have none', flag, true);
}

/** What is said counts; what is not said is restricted where the operator is shared. */
export function restrictionsOf(
  flags: Omit<RestrictionFlags, 'warnPlaintext'>,
  settings: Pick<Settings, 'clusterWide' | 'namespaces' | 'etcdRepository'>,
): Restrictions {
  const { valueFrom, repositories, serviceAccounts, uids }: Restrictions = isShared(settings) ? sharedRestrictions : {};
  const own = settings.etcdRepository === undefined ? [] : [settings.etcdRepository];
  const images = unlessAny(flags.allowedRepositories, repositories);
  return {
    valueFrom: unlessAny(flags.allowedValueFrom, valueFrom),
    repositories: images && [...images, ...own],
    serviceAccounts: unlessAny(flags.allowedServiceAccounts, serviceAccounts),
    uids: unlessAny(flags.allowedUids as readonly UidRange[] | undefined, uids),
  };
}

function unlessAny<T>(said: readonly T[] | undefined, usual: readonly T[] | undefined): readonly T[] | undefined {
  if (said === undefined) return usual;
  return said.some((each) => each === '*') ? undefined : said;
}
