import { type Fields, fieldsOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { type FieldError, supported } from '../status-error.ts';
import { notNegativeDetail } from './numbers.ts';
import type { Strategy } from './strategy.ts';

export const budgets: Strategy = {
  hasGeneration: true,
  status: () => ({ currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 }),
  validate: (budget) => [...bothErrors(budget), ...amountErrors(budget), ...policyErrors(budget)],
};

const amounts = ['minAvailable', 'maxUnavailable'] as const;

/** minAvailable and maxUnavailable exclude each other. */
function bothErrors(budget: KubeObject): readonly FieldError[] {
  const spec = fieldsOf(budget['spec']);
  if (amounts.some((field) => spec[field] === undefined)) return [];
  const detail = 'minAvailable and maxUnavailable cannot be both set';
  return [{ type: 'Invalid', path: 'spec', value: withGoNames(spec), detail }];
}

const withGoNames = ({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy }: Fields): Fields => ({
  MinAvailable: minAvailable,
  Selector: selector ?? null,
  MaxUnavailable: maxUnavailable,
  UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
});

const amountErrors = (budget: KubeObject): readonly FieldError[] =>
  amounts.flatMap((field): FieldError[] => {
    const value = fieldsOf(budget['spec'])[field];
    const detail = amountError(value);
    return detail === undefined ? [] : [{ type: 'Invalid', path: `spec.${field}`, value, detail }];
  });

const percentDetail =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function amountError(value: unknown): string | undefined {
  if (typeof value === 'number' && value < 0) return notNegativeDetail;
  if (typeof value !== 'string') return undefined;
  if (!/^[0-9]+%$/.test(value)) return percentDetail;
  return Number.parseInt(value, 10) > 100 ? 'must not be greater than 100%' : undefined;
}

const policies = ['AlwaysAllow', 'IfHealthyBudget'];

function policyErrors(budget: KubeObject): readonly FieldError[] {
  const value = fieldsOf(budget['spec'])['unhealthyPodEvictionPolicy'];
  if (value === undefined || policies.some((policy) => policy === value)) return [];
  return [{ type: 'NotSupported', path: 'spec.unhealthyPodEvictionPolicy', value, detail: supported(policies) }];
}
