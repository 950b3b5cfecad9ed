import { randomInt } from 'node:crypto';

/** Kubernetes' own alphabet for random names: no vowels, and nothing that looks like something else. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

export const randomName = (cluster: string): string =>
  `${cluster.slice(0, 52)}-${Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
