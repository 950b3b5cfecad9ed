import { type Fields, fieldsOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { type FieldError, supported } from '../refusal.ts';
import { negativeWords } from './numbers.ts';
import type { Strategy } from './strategy.ts';

export const budgets: Strategy = {
  counts: true,
  status: () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
  validate: (budget) => [...bothErrors(budget), ...amountErrors(budget), ...policyErrors(budget)],
};

const amounts = ['minAvailable', 'maxUnavailable'] as const;

/** A budget says how many must be there, or how many may be away. */
function bothErrors(budget: KubeObject): readonly FieldError[] {
  const spec = fieldsOf(budget['spec']);
  if (amounts.some((field) => spec[field] === undefined)) return [];
  const says = 'minAvailable and maxUnavailable cannot be both set';
  return [{ type: 'Invalid', path: 'spec', value: inGoWords(spec), says }];
}

const inGoWords = ({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: Fields): Fields => ({
  MinAvailable: minAvailable,
  Selector: selector ?? null,
  MaxUnavailable: maxUnavailable,
  UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
});

const amountErrors = (budget: KubeObject): readonly FieldError[] =>
  amounts.flatMap((field): FieldError[] => {
    const value = fieldsOf(budget['spec'])[field];
    const says = wrongAmount(value);
    return says === undefined ? [] : [{ type: 'Invalid', path: `spec.${field}`, value, says }];
  });

const percentWords =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function wrongAmount(value: unknown): string | undefined {
  if (typeof value === 'number' && value < 0) return negativeWords;
  if (typeof value !== 'string') return undefined;
  if (!/^[0-9]+%$/.test(value)) return percentWords;
  return Number.parseInt(value, 10) > 100 ? 'must not be greater than 100%' : undefined;
}

const policies = ['AlwaysAllow', 'IfHealthyBudget'];

function policyErrors(budget: KubeObject): readonly FieldError[] {
  const value = fieldsOf(budget['spec'])['unhealthyPodEvictionPolicy'];
  if (value === undefined || policies.some((policy) => policy === value)) return [];
  return [{ type: 'NotSupported', path: 'spec.unhealthyPodEvictionPolicy', value, says: supported(policies) }];
}
