import { InvalidArgumentError } from 'commander';
import { type Dialect, isDialect } from './dialects.ts';

export function count(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 9) return number;
  throw new InvalidArgumentError('must be a whole number from 1 to 9');
}

const splitList = (text: string): readonly string[] => text.split(',').map((each) => each.trim());

/** Image tags have a leading v, and so have many users' versions. */
export function version(text: string): string {
  const [, number] = /^v?(\d+\.\d+\.\d+)$/.exec(text) ?? [];
  if (number !== undefined) return number;
  throw new InvalidArgumentError(`"${text}" is not an etcd version: use the form 3.5.35`);
}

export const versions = (text: string): readonly string[] => splitList(text).map(version);

export function dialects(text: string): readonly Dialect[] {
  const wrong = splitList(text).find((name) => !isDialect(name));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`"${wrong}" is not a dialect: use coreos, improbable or both`);
  return [...new Set(splitList(text).filter(isDialect))];
}
