const hidden = '[redacted]';

/** Shorter values, such as "true" or a port, are not redacted: they occur in many messages. */
const shortest = 6;

/** Removes these values, and each of their lines, from a text, also as they are written in a URL or in base64. */
export function redacted(text: string, values: readonly string[]): string {
  const parts = values.flatMap((value) => [value, ...value.split('\n')]).map((part) => part.trim());
  const known = [...new Set(parts)].filter((part) => part.length >= shortest).flatMap(formsOf);
  return known.toSorted((a, b) => b.length - a.length).reduce((left, part) => left.replaceAll(part, hidden), text);
}

/** `toWellFormed`: a lone surrogate cannot be encoded. */
const formsOf = (part: string): readonly string[] => [
  part,
  encodeURIComponent(part.toWellFormed()),
  Buffer.from(part).toString('base64').replace(/=+$/, ''),
];

const secretForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, hidden], // a key or certificate, whole or truncated
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]+@/gi, `$1${hidden}@`], // user and password in a URL
  [/\b(authorization|password|passwd|secret|token|api[_-]?key)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi, `$1$2${hidden}`],
  [/\b(bearer|basic)\s+[A-Za-z0-9+/=_.-]{8,}/gi, `$1 ${hidden}`],
];

/** Removes keys, passwords and tokens from a text, by their form. */
export const withoutCredentials = (text: string): string =>
  secretForms.reduce((left, [form, instead]) => left.replace(form, instead), text);
