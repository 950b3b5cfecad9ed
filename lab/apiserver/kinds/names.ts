const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(String.raw`^${label}(\.${label})*$`);
const wholeLabel = new RegExp(`^${label}$`);

const subdomainDetail =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelDetail =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Checks a name; returns what is wrong with it, if anything. */
export type NameCheck = (name: string) => string | undefined;

export const isSubdomain: NameCheck = (name) => {
  if (name.length > 253) return 'must be no more than 253 characters';
  return subdomain.test(name) ? undefined : subdomainDetail;
};

export const isLabel: NameCheck = (name) => {
  if (name.length > 63) return 'must be no more than 63 characters';
  if (subdomain.test(name) && name.includes('.')) return 'must not contain dots';
  return wholeLabel.test(name) ? undefined : labelDetail;
};

/** Roles may have any name that is a valid path segment. */
export const isPathSegment: NameCheck = (name) => {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const wrong = ['/', '%'].find((sign) => name.includes(sign));
  return wrong === undefined ? undefined : `may not contain '${wrong}'`;
};

const qualifiedDetail =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** The errors of a name with an optional domain prefix, such as a label key. */
export function qualifiedNameErrors(name: string): readonly string[] {
  const [last = '', prefix, ...rest] = name.split('/').toReversed();
  if (rest.length > 0) return [`a valid label key ${qualifiedDetail} ${prefixDetail}`];
  const prefixError = prefix === '' ? 'must be non-empty' : prefix && isSubdomain(prefix);
  return [
    ...(prefixError ? [`prefix part ${prefixError}`] : []),
    ...namePartErrors(last).map((detail) => `name part ${detail}`),
  ];
}

const prefixDetail = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

const namePartErrors = (name: string): readonly string[] => [
  ...(name === '' ? ['must be non-empty'] : []),
  ...(name.length > 63 ? ['must be no more than 63 bytes'] : []),
  ...(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) ? [] : [qualifiedDetail]),
];

const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

/** A name with the given prefix and a random suffix. */
export const generatedName = (base: string): string =>
  base.slice(0, longestBase) +
  Array.from({ length: suffixLength }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
