import type { MemberName } from './names.ts';

/** The number at the end of a member's name: `db-10` comes after `db-9`. A name without a number comes first. */
export const ordinalOf = (name: MemberName): number => Number(/-(\d{1,9})$/.exec(name)?.[1] ?? -1);

/** True if the name is a possible name of a numbered member of the cluster. */
export const isNumberedName = (cluster: string, name: string): boolean =>
  name.startsWith(`${cluster}-`) && /^(0|[1-9]\d{0,8})$/.test(name.slice(cluster.length + 1));

/** The names with the lowest unused numbers: gaps are filled first. */
export function freeOrdinals(cluster: string, taken: ReadonlySet<string>, count: number): readonly MemberName[] {
  const names = Array.from({ length: count + taken.size }, (_, ordinal) => `${cluster}-${ordinal}`);
  return names.filter((name) => !taken.has(name)).slice(0, count) as MemberName[];
}
