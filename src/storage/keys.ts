import { Failure } from '../std/failure.ts';

/** No store takes longer ones. */
const longest = 1024;

/** What is wrong with the key of an object, and what to do about it; nothing if it is a good one. */
export function problemWithKey(key: string): string | undefined {
  if (key === '') return 'is empty: say under which key the object is kept';
  if (Buffer.byteLength(key) > longest) return `is longer than ${longest} bytes: shorten it`;
  if (key.startsWith('/')) return 'begins with "/": leave that out';
  if (key.endsWith('/')) return 'ends with "/", as a directory does: add the name of an object';
  if (key.split('/').some((part) => part === '..' || part === '.')) return 'has a part "." or "..": write it without';
  if (hasControlCharacter(key)) return 'has a control character: leave that out';
  return undefined;
}

const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);

/** For a key that is only read. */
export const assertReadableKey = (key: string): void => assertKey(key.replace(/^\//, ''));

/** For a key that no user wrote: a bad one is our fault. */
export function assertKey(key: string): void {
  const problem = problemWithKey(key);
  if (problem !== undefined) throw new Failure('rejected', `the key "${key}" ${problem}`);
}
