import type { CarrierName } from './names.ts';

/** The number at the end of a member's name, as a number: `db-10` comes after `db-9`. A name without one comes before all. */
export const ordinalOf = (name: CarrierName): number => Number(/-(\d{1,9})$/.exec(name)?.[1] ?? -1);

/** Whether a numbered member of the cluster might have that name. */
export const isNumberedName = (cluster: string, name: string): boolean =>
  name.startsWith(`${cluster}-`) && /^(0|[1-9]\d{0,8})$/.test(name.slice(cluster.length + 1));

/** The names of the lowest numbers that nobody has: gaps are filled first. */
export function freeOrdinals(cluster: string, taken: ReadonlySet<string>, count: number): readonly CarrierName[] {
  const names = Array.from({ length: count + taken.size }, (_, ordinal) => `${cluster}-${ordinal}`);
  return names.filter((name) => !taken.has(name)).slice(0, count) as CarrierName[];
}
