import { Failure } from '../std/failure.ts';

/** Maximum length of a key in all stores, in bytes. */
const maxBytes = 1024;

/** Why a key is invalid and how to correct it; undefined if it is valid. */
export function problemWithKey(key: string): string | undefined {
  if (key === '') return 'is empty: name the key of the object';
  if (Buffer.byteLength(key) > maxBytes) return `is longer than ${maxBytes} bytes: shorten it`;
  if (key.startsWith('/')) return 'begins with "/": remove it';
  if (key.endsWith('/')) return 'ends with "/": add the name of an object';
  if (key.split('/').some((part) => part === '..' || part === '.')) return 'has a part "." or "..": remove it';
  if (hasControlCharacter(key)) return 'has a control character: remove it';
  return undefined;
}

const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);

/** Checks a key for reading: a leading "/" is allowed. */
export const assertReadableKey = (key: string): void => assertKey(key.replace(/^\//, ''));

/** Checks a key for writing. */
export function assertKey(key: string): void {
  const problem = problemWithKey(key);
  if (problem !== undefined) throw new Failure('rejected', `the key "${key}" ${problem}`);
}
