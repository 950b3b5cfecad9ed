import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Json } from '../src/kube/object.ts';

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** True if a selector matches labels. An empty selector matches everything; an absent selector matches nothing. */
export function selects(selector: Json<V1LabelSelector> | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

/** True if labels meet one requirement of a selector. */
export function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}
