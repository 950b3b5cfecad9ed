import { parseVersion } from '../model/version.ts';

/**
 * etcd 3.5 reads another format of changes to users than 3.4 writes, so members of both cannot be beside each other where
 * there are any. Once one of them runs 3.5 there is nothing left to keep.
 */
export function upgradeMindsUsers(running: readonly string[], wanted: string): boolean {
  const minors = running.map(minorOf);
  return minors.length > 0 && minors.every((minor) => minor <= 4) && minors.includes(4) && minorOf(wanted) >= 5;
}

const minorOf = (version: string): number => parseVersion(version.replace(/[+-].*$/, ''))?.minor ?? 0;

export const usersInTheWay = (wanted: string): string =>
  `etcd cannot go from 3.4 to ${wanted} one member after the other while it has users: switch auth off (etcdctl auth disable), and on again when all have arrived`;
