/** Kubernetes' alphabet for random names: no vowels and no ambiguous characters. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A name for a member. `random` returns a number from 0 up to, but not including, 1. */
export const randomName = (cluster: string, random: () => number): string =>
  `${cluster.slice(0, 52)}-${Array.from({ length: 10 }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')}`;
