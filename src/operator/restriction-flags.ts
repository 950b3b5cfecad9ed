import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Restrictions, restrictionFlags, sharedRestrictions, type UidRange } from '../apis/common/restrictions.ts';
import { isShared } from './reach.ts';
import type { Settings } from './settings.ts';
import { flag } from './settings-checks.ts';

/** Values of the flags: a list, or a star for any value. */
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
    if (from === undefined) throw new InvalidArgumentError('must be user IDs or ranges, such as 1000-2000,65532');
    return { from: Number(from), to: Number(to ?? from) };
  });
}

const defaults = 'default: any; with --cluster-wide or --namespaces:';

export function withRestrictionFlags(command: Command): Command {
  const { valueFrom, repositories, serviceAccounts } = sharedRestrictions;
  return command
    .addOption(
      new Option(
        `${restrictionFlags.valueFrom} <kinds>`,
        `allowed valueFrom sources of variables; ${defaults} ${valueFrom.join(',')}; * for any`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.repositories} <images>`,
        `allowed images without tag, or with a trailing slash for all images below; ${defaults} ${repositories.join(',')}`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.serviceAccounts} <names>`,
        `allowed ServiceAccounts of pods; ${defaults} ${serviceAccounts.join(',')}`,
      ).argParser(listed),
    )
    .addOption(
      new Option(
        `${restrictionFlags.uids} <ranges>`,
        `allowed user IDs of members, such as 1000-2000,65532; ${defaults} any but root`,
      ).argParser(ranges),
    )
    .option('--warn-plaintext [bool]', 'warn about clusters without TLS', flag, true);
}

/** Flags override the defaults. The defaults of a shared operator are restrictive. */
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

function unlessAny<T>(given: readonly T[] | undefined, fallback: readonly T[] | undefined): readonly T[] | undefined {
  if (given === undefined) return fallback;
  return given.some((each) => each === '*') ? undefined : given;
}
