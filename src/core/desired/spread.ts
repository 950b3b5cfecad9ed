import type { Passed } from '../model/template.ts';

/** Pods with one of these values of a label. */
export interface Labelled {
  readonly label: string;
  readonly values: readonly string[];
}

/** A mild wish to keep away from pods that leave soon, where a strong one would be for pods that stay. */
const mildWeight = (weight: number): number => Math.max(1, Math.floor(weight / 10));
const usualWeight = 100;

/**
 * The spec of a pod for which pods that leave soon do not count when a node is chosen: a pod that takes the place of another may
 * then have its node, so that members are as far apart afterwards as they were before.
 */
export function notCounting(spec: Passed, leaving: Labelled): Passed {
  const { affinity, topologySpreadConstraints: constraints } = spec;
  return {
    ...spec,
    ...(isObject(affinity) ? { affinity: affinityWithout(affinity, leaving) } : {}),
    ...(Array.isArray(constraints)
      ? { topologySpreadConstraints: constraints.filter(isObject).map((each) => selecting(each, 'NotIn', leaving)) }
      : {}),
  };
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

function affinityWithout(affinity: Passed, leaving: Labelled): Passed {
  const { podAntiAffinity: apart } = affinity;
  if (!isObject(apart)) return affinity;
  const demands = listIn(apart, required);
  const wishes = listIn(apart, preferred);
  const mild = [...demands.map(asWish), ...wishes].map((wish) => mildly(wish, leaving));
  const strong = wishes.map((wish) => ofTerm(wish, (term) => selecting(term, 'NotIn', leaving)));
  return {
    ...affinity,
    podAntiAffinity: {
      ...(demands.length === 0 ? {} : { [required]: demands.map((term) => selecting(term, 'NotIn', leaving)) }),
      [preferred]: [...strong, ...mild],
    },
  };
}

const asWish = (podAffinityTerm: Passed): Passed => ({ weight: usualWeight, podAffinityTerm });

const mildly = (wish: Passed, leaving: Labelled): Passed => ({
  ...ofTerm(wish, (term) => selecting(term, 'In', leaving)),
  weight: mildWeight(Number(wish['weight'])),
});

const ofTerm = (wish: Passed, change: (term: Passed) => Passed): Passed =>
  isObject(wish['podAffinityTerm']) ? { ...wish, podAffinityTerm: change(wish['podAffinityTerm']) } : wish;

/** A term without a selector selects nothing, and stays so. */
function selecting(term: Passed, operator: 'In' | 'NotIn', { label: key, values }: Labelled): Passed {
  const { labelSelector } = term;
  if (!isObject(labelSelector)) return term;
  const expressions = listIn(labelSelector, 'matchExpressions');
  return {
    ...term,
    labelSelector: { ...labelSelector, matchExpressions: [...expressions, { key, operator, values }] },
  };
}

const isObject = (value: unknown): value is Passed => typeof value === 'object' && value !== null;

const listIn = (object: Passed, name: string): readonly Passed[] => {
  const list = object[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
};
