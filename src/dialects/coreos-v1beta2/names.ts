import { clusterNameRules } from '../names.ts';

/** A cluster's name is the beginning of its members' names: 52 and a dash and ten characters make a DNS label of 63. */
export const nameRules = clusterNameRules(52);
