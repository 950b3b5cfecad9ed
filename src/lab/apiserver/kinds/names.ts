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
  if (subdomain.test(name) && name.includes('.')) return 'must not contain dots';
  return wholeLabel.test(name) ? undefined : labelWords;
};

/** Roles may have any name that can be part of a path. */
export const isPathSegment: NameCheck = (name) => {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const wrong = ['/', '%'].find((sign) => name.includes(sign));
  return wrong === undefined ? undefined : `may not contain '${wrong}'`;
};

const qualifiedWords =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** What is wrong with a name that may have a domain before it, as keys of labels have. */
export function wrongInQualified(name: string): readonly string[] {
  const [last = '', prefix, ...rest] = name.split('/').toReversed();
  if (rest.length > 0) return [`a valid label key ${qualifiedWords} ${prefixWords}`];
  const wrongPrefix = prefix === '' ? 'must be non-empty' : prefix && isSubdomain(prefix);
  return [
    ...(wrongPrefix ? [`prefix part ${wrongPrefix}`] : []),
    ...wrongInLast(last).map((says) => `name part ${says}`),
  ];
}

const prefixWords = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

const wrongInLast = (name: string): readonly string[] => [
  ...(name === '' ? ['must be non-empty'] : []),
  ...(name.length > 63 ? ['must be no more than 63 bytes'] : []),
  ...(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) ? [] : [qualifiedWords]),
];

const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

/** A name that begins as asked, and is probably not taken. */
export const generatedName = (base: string): string =>
  base.slice(0, longestBase) +
  Array.from({ length: suffixLength }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
