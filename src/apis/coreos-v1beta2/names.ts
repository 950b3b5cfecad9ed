import { clusterNameRules } from '../common/schema/names.ts';

/** Member names are the cluster name, a dash and ten characters: with 52 that is a DNS label of 63. */
export const nameRules = clusterNameRules(52);
