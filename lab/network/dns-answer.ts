import { type Answer, AUTHORITATIVE_ANSWER, type Packet, type Question, RECURSION_AVAILABLE } from 'dns-packet';
import { clusterDomain, type Names } from './names.ts';

const ttl = 5;
const nameError = 3;

/** Answers a DNS query. Names outside the cluster are answered with NXDOMAIN. */
export function answerTo(query: Packet, names: Names): Packet {
  const question = query.questions?.[0];
  if (question === undefined) return reply(query, [], { isKnown: true });
  const name = question.name.toLowerCase().replace(/\.$/, '');
  const { answers, additionals = [] } = found({ ...question, name }, names);
  const shown = answers.map((answer) => ({ ...answer, name: question.name }));
  return {
    ...reply(query, shown, { isKnown: answers.length > 0 || isKnown(name, names) }),
    additionals: [...additionals],
  };
}

interface Found {
  readonly answers: readonly Answer[];
  readonly additionals?: readonly Answer[];
}

function found({ name, type }: Question, names: Names): Found {
  if (type === 'A') return { answers: addressesOf(name, names) };
  if (type === 'SRV') return srvOf(name, names);
  if (type !== 'PTR') return { answers: [] };
  const known = names.reverse.get(addressOfPtr(name)) ?? [];
  return { answers: known.map((data) => ({ type: 'PTR', name, ttl, data })) };
}

const addressesOf = (name: string, { addresses }: Names): readonly Answer[] =>
  (addresses.get(name) ?? []).map((data) => ({ type: 'A', name, ttl, data }));

function srvOf(name: string, names: Names): Found {
  const all = names.services.get(name) ?? [];
  const weight = Math.floor(100 / Math.max(1, all.length));
  return {
    answers: all.map(({ target, port }) => ({ type: 'SRV', name, ttl, data: { priority: 0, weight, port, target } })),
    additionals: all.flatMap(({ target }) => addressesOf(target, names)),
  };
}

/** `1.0.96.10.in-addr.arpa` is the address 10.96.0.1. */
const addressOfPtr = (name: string): string =>
  name
    .replace(/\.in-addr\.arpa$/, '')
    .split('.')
    .toReversed()
    .join('.');

/** True if a name exists, even without records of the requested type. */
const isKnown = (name: string, { addresses, services, reverse }: Names): boolean =>
  name === clusterDomain ||
  addresses.has(name) ||
  services.has(name) ||
  reverse.has(addressOfPtr(name)) ||
  [...addresses.keys()].some((known) => known.endsWith(`.${name}`));

function reply(
  { id, questions = [] }: Packet,
  answers: readonly Answer[],
  { isKnown: known }: { isKnown: boolean },
): Packet {
  const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | (known ? 0 : nameError);
  return { type: 'response', ...(id === undefined ? {} : { id }), flags, questions, answers: [...answers] };
}
