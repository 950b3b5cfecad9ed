import { InvalidArgumentError } from 'commander';
import { type Dialect, isDialect } from './dialects.ts';

export function count(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 9) return number;
  throw new InvalidArgumentError('must be a whole number from 1 to 9');
}

const listed = (text: string): readonly string[] => text.split(',').map((each) => each.trim());

/** Tags of images have a v before them, and so is it often written. */
export function version(text: string): string {
  const [, number] = /^v?(\d+\.\d+\.\d+)$/.exec(text) ?? [];
  if (number !== undefined) return number;
  throw new InvalidArgumentError(`"${text}" is no version of etcd: write it as in 3.5.35`);
}

export const versions = (text: string): readonly string[] => listed(text).map(version);

export function dialects(text: string): readonly Dialect[] {
  const wrong = listed(text).find((name) => !isDialect(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is none: there are coreos and improbable`);
  return [...new Set(listed(text).filter(isDialect))];
}
