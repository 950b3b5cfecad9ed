import { randomInt } from 'node:crypto';

/** Kubernetes' alphabet for random names: no vowels and no ambiguous characters. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

export const randomName = (cluster: string): string =>
  `${cluster.slice(0, 52)}-${Array.from({ length: 10 }, () => alphabet[randomInt(alphabet.length)]).join('')}`;
