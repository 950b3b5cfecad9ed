import { at, fieldsOf, numberOf, textOf } from './json.ts';
import type { KubeObject } from './object.ts';
import { badRequest } from './status-error.ts';

export type Selector = (object: KubeObject) => boolean;

type Labels = Readonly<Record<string, unknown>>;
type Requirement = (labels: Labels) => boolean;

const name = String.raw`[A-Za-z0-9][-A-Za-z0-9_./]*`;
const requirement = new RegExp(
  String.raw`^\s*(?:(?<absent>!)\s*(?<not>${name})|(?<key>${name})\s*(?:(?<op>==|=|!=|>|<)\s*(?<value>[-A-Za-z0-9_.]*)|(?<set>in|notin)\s*\((?<values>[^)]*)\))?)\s*(?:,|$)`,
);

/** Parses a label selector as in `kubectl -l`: all requirements must hold. */
export function labelSelector(text: string): Selector {
  const requirements: Requirement[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const found = requirement.exec(rest);
    if (found === null) throw badRequest(`unable to parse requirement: found '${rest.trim()}', expected: identifier`);
    requirements.push(requirementOf(found.groups ?? {}));
    rest = rest.slice(found[0].length);
  }
  return ({ metadata }) => requirements.every((holds) => holds(metadata.labels ?? {}));
}

function requirementOf(parts: Readonly<Record<string, string | undefined>>): Requirement {
  const { not, key = '', op = '', value = '', set, values = '' } = parts;
  if (not !== undefined) return (labels) => !(not in labels);
  if (set !== undefined)
    return setRequirement(
      key,
      set,
      values.split(',').map((one) => one.trim()),
    );
  switch (op) {
    case '=':
    case '==':
      return (labels) => labels[key] === value;
    case '!=':
      return (labels) => labels[key] !== value;
    case '>':
      return (labels) => key in labels && Number(labels[key]) > Number(value);
    case '<':
      return (labels) => key in labels && Number(labels[key]) < Number(value);
    default:
      return (labels) => key in labels;
  }
}

const setRequirement = (key: string, set: string, values: readonly string[]): Requirement =>
  set === 'in'
    ? (labels) => key in labels && values.includes(String(labels[key]))
    : (labels) => !(key in labels) || !values.includes(String(labels[key]));

/** Compiles a selector object with `matchLabels` and `matchExpressions`. */
export function selectorOf(selector: unknown): (labels: Labels) => boolean {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const requirements: Requirement[] = Object.entries(fieldsOf(matchLabels)).map(
    ([key, value]) =>
      (labels) =>
        labels[key] === value,
  );
  for (const expression of Array.isArray(matchExpressions) ? matchExpressions : [])
    requirements.push(requirementFrom(fieldsOf(expression)));
  return (labels) => requirements.every((holds) => holds(labels));
}

function requirementFrom({ key, operator, values }: Readonly<Record<string, unknown>>): Requirement {
  const wanted = (Array.isArray(values) ? values : []).map(String);
  const label = String(key);
  switch (operator) {
    case 'In':
      return setRequirement(label, 'in', wanted);
    case 'NotIn':
      return setRequirement(label, 'notin', wanted);
    case 'Exists':
      return (labels) => label in labels;
    default:
      return (labels) => !(label in labels);
  }
}

/** The fields that field selectors of built-in kinds support, besides name and namespace. All others are refused. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/nodes': ['spec.unschedulable'],
  '/namespaces': ['status.phase'],
  '/secrets': ['type'],
  '/services': ['spec.clusterIP', 'spec.type'],
  '/events': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.k8s.io/events': [
    'regarding.kind',
    'regarding.namespace',
    'regarding.name',
    'regarding.uid',
    'regarding.apiVersion',
    'regarding.resourceVersion',
    'regarding.fieldPath',
    'reason',
    'reportingController',
    'type',
  ],
  'batch/jobs': ['status.successful'],
};

/** Fields whose stored form differs from the selector's: renamed, or omitted at their default. */
const computed: Readonly<Record<string, (object: KubeObject) => string>> = {
  '/pods spec.hostNetwork': (pod) => String(at(pod, 'spec', 'hostNetwork') === true),
  '/nodes spec.unschedulable': (node) => String(at(node, 'spec', 'unschedulable') === true),
  '/events source': (event) => textOf(at(event, 'source', 'component')) || textOf(event['reportingComponent']),
  'batch/jobs status.successful': (job) => String(numberOf(at(job, 'status', 'succeeded'))),
};

const textValue = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

interface SelectableType {
  readonly collection: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly custom?: { readonly selectableFields: readonly string[] };
}

/** Events are stored with the field names of the core group. */
const storedName = (field: string): string =>
  field.replace(/^regarding\./, 'involvedObject.').replace(/^reportingController$/, 'reportingComponent');

/** The error for an unsupported field; its text depends on the kind. */
function notSupported(field: string, resource: string, { kind, custom }: SelectableType): string {
  if (resource === 'batch/jobs') return `field label "${field}" not supported for ${kind}`;
  if (custom !== undefined || resource in selectable) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Parses a field selector as in `kubectl --field-selector`. */
export function fieldSelector(text: string, of: SelectableType): Selector {
  const resource = of.group === 'events.k8s.io' ? 'events.k8s.io/events' : of.collection;
  const known = new Set([
    'metadata.name',
    'metadata.namespace',
    ...(selectable[resource] ?? []),
    ...(of.custom?.selectableFields ?? []),
  ]);
  const requirements = text
    .split(',')
    .filter(Boolean)
    .map((part) => {
      const [, field = '', op, value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(part) ?? [];
      if (op === undefined) throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`);
      if (!known.has(field)) throw badRequest(notSupported(field, resource, of));
      const path = storedName(field).split('.');
      const read = computed[`${resource} ${field}`] ?? ((object) => textValue(at(object, ...path)));
      return op === '!='
        ? (object: KubeObject) => read(object) !== value
        : (object: KubeObject) => read(object) === value;
    });
  return (object) => requirements.every((holds) => holds(object));
}
