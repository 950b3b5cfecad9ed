import type { ManifestPart } from '../cluster/model/template.ts';

/** A selection of pods by the values of one label. */
export interface Labelled {
  readonly label: string;
  readonly values: readonly string[];
}

/** The reduced weight of anti-affinity to pods that are removed soon. */
const mildWeight = (weight: number): number => Math.max(1, Math.floor(weight / 10));
const usualWeight = 100;

/**
 * A pod spec for which scheduling ignores pods that are removed soon. A replacement may then run on the node of the
 * member that it replaces, so that the final spread over nodes is unchanged.
 */
export function ignoringPods(spec: ManifestPart, leaving: Labelled): ManifestPart {
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

function affinityWithout(affinity: ManifestPart, leaving: Labelled): ManifestPart {
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

const asWish = (podAffinityTerm: ManifestPart): ManifestPart => ({ weight: usualWeight, podAffinityTerm });

const mildly = (wish: ManifestPart, leaving: Labelled): ManifestPart => ({
  ...ofTerm(wish, (term) => selecting(term, 'In', leaving)),
  weight: mildWeight(Number(wish['weight'])),
});

const ofTerm = (wish: ManifestPart, change: (term: ManifestPart) => ManifestPart): ManifestPart =>
  isObject(wish['podAffinityTerm']) ? { ...wish, podAffinityTerm: change(wish['podAffinityTerm']) } : wish;

/** A term without a selector selects nothing and stays unchanged. */
function selecting(term: ManifestPart, operator: 'In' | 'NotIn', { label: key, values }: Labelled): ManifestPart {
  const { labelSelector } = term;
  if (!isObject(labelSelector)) return term;
  const expressions = listIn(labelSelector, 'matchExpressions');
  return {
    ...term,
    labelSelector: { ...labelSelector, matchExpressions: [...expressions, { key, operator, values }] },
  };
}

const isObject = (value: unknown): value is ManifestPart => typeof value === 'object' && value !== null;

const listIn = (object: ManifestPart, name: string): readonly ManifestPart[] => {
  const list = object[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
};
