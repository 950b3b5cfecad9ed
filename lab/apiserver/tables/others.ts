import { at, type Fields, fieldsIn, fieldsOf, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ageOf } from './duration.ts';

const age = ({ metadata }: KubeObject): string => ageOf(metadata.creationTimestamp);

export const plainCells = (object: KubeObject): readonly unknown[] => [object.metadata.name, age(object)];
/** Roles and CRDs show when they were created, not their age. */
export const nameAndTimeCells = ({ metadata }: KubeObject): readonly unknown[] => [
  metadata.name,
  metadata.creationTimestamp,
];

export const namespaceCells = (namespace: KubeObject): readonly unknown[] => [
  namespace.metadata.name,
  textOf(at(namespace, 'status', 'phase')),
  age(namespace),
];

const countOf = (value: unknown): number => Object.keys(fieldsOf(value)).length;

export const configMapCells = (map: KubeObject): readonly unknown[] => [
  map.metadata.name,
  countOf(map['data']) + countOf(map['binaryData']),
  age(map),
];

export const secretCells = (secret: KubeObject): readonly unknown[] => [
  secret.metadata.name,
  textOf(secret['type']),
  countOf(secret['data']),
  age(secret),
];

export const leaseCells = (lease: KubeObject): readonly unknown[] => [
  lease.metadata.name,
  textOf(at(lease, 'spec', 'holderIdentity')),
  age(lease),
];

export function eventCells(event: KubeObject): readonly unknown[] {
  const { kind, name, fieldPath } = fieldsOf(event['involvedObject']);
  const { lastTimestamp, firstTimestamp, eventTime, count, series } = event;
  const { component, host } = fieldsOf(event['source']);
  const first = firstTimestamp ?? eventTime;
  const last = at(series, 'lastObservedTime') ?? lastTimestamp ?? first;
  const source = [textOf(component) || textOf(event['reportingComponent']), textOf(host)].filter(Boolean).join(', ');
  return [
    ageOf(last),
    textOf(event['type']),
    textOf(event['reason']),
    `${textOf(kind).toLowerCase()}/${textOf(name)}`,
    textOf(fieldPath),
    source,
    textOf(event['message']).trim(),
    ageOf(first),
    numberOf(at(series, 'count')) || numberOf(count) || 1,
    event.metadata.name,
  ];
}

export function budgetCells(budget: KubeObject): readonly unknown[] {
  const { minAvailable, maxUnavailable } = fieldsOf(budget['spec']);
  const shown = (value: unknown): unknown => value ?? 'N/A';
  const allowed = numberOf(at(budget, 'status', 'disruptionsAllowed'));
  return [budget.metadata.name, shown(minAvailable), shown(maxUnavailable), allowed, age(budget)];
}

export function bindingCells(binding: KubeObject): readonly unknown[] {
  const { kind, name } = fieldsOf(binding['roleRef']);
  const subjects = fieldsIn(binding['subjects']);
  const named = (of: string, nameOf: (subject: Fields) => string): string =>
    subjects
      .filter((subject) => subject['kind'] === of)
      .map(nameOf)
      .join(', ');
  return [
    binding.metadata.name,
    `${textOf(kind)}/${textOf(name)}`,
    age(binding),
    named('User', (subject) => textOf(subject['name'])),
    named('Group', (subject) => textOf(subject['name'])),
    named('ServiceAccount', (subject) => `${textOf(subject['namespace'])}/${textOf(subject['name'])}`),
  ];
}

export const priorityCells = (priority: KubeObject): readonly unknown[] => [
  priority.metadata.name,
  numberOf(priority['value']),
  priority['globalDefault'] === true,
  age(priority),
  textOf(priority['preemptionPolicy']),
];
