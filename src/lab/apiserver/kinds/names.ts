const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(String.raw`^${label}(\.${label})*$`);
const wholeLabel = new RegExp(`^${label}$`);

const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Each says what is wrong with a name, or nothing. */
export type NameCheck = (name: string) => string | undefined;

export const isSubdomain: NameCheck = (name) => {
  if (name.length > 253) return 'must be no more than 253 characters';
  return subdomain.test(name) ? undefined : subdomainWords;
};

export const isLabel: NameCheck = (name) => {
  if (name.length > 63) return 'must be no more than 63 characters';
  return wholeLabel.test(name) ? undefined : labelWords;
};

/** Roles may have any name that can be part of a path. */
export const isPathSegment: NameCheck = (name) => {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const wrong = ['/', '%'].find((sign) => name.includes(sign));
  return wrong === undefined ? undefined : `may not contain '${wrong}'`;
};

const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

/** A name that begins as asked, and is probably not taken. */
export const generatedName = (base: string): string =>
  base.slice(0, longestBase) +
  Array.from({ length: suffixLength }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
