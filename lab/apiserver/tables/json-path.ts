import { isFields } from '../json.ts';

const part =
  /^\.?(?:([A-Za-z_][-\w]*)|\[(\d+|\*)\]|\[['"]([^'"]+)['"]\]|\[\?\(@\.([\w.-]+)\s*==\s*['"]([^'"]*)['"]\)\])/;

type Step = (value: unknown) => readonly unknown[];

const field =
  (name: string): Step =>
  (value) =>
    isFields(value) && name in value ? [value[name]] : [];

const matching =
  (path: string, wanted: string): Step =>
  (value) =>
    (Array.isArray(value) ? value : []).filter((item) => valuesAt(`.${path}`, item)[0] === wanted);

function stepOf([, name, index, quoted, path, wanted]: RegExpExecArray): Step {
  if (name !== undefined || quoted !== undefined) return field(name ?? quoted ?? '');
  if (path !== undefined) return matching(path, wanted ?? '');
  if (index === '*') return (value) => (Array.isArray(value) ? value : Object.values(isFields(value) ? value : {}));
  return (value) => (Array.isArray(value) ? value.slice(Number(index), Number(index) + 1) : []);
}

/** The values at a JSON path of a printer column: fields, indices and equality filters. */
export function valuesAt(path: string, value: unknown): readonly unknown[] {
  let found: readonly unknown[] = [value];
  let rest = path.replaceAll(String.raw`\.`, '\u0000');
  while (rest !== '' && rest !== '.') {
    const next = part.exec(rest);
    if (next === null) return [];
    found = found.flatMap(stepOf(next));
    rest = rest.slice(next[0].length);
  }
  return found;
}
