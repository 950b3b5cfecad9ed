import type { Rule } from '../rule.ts';

/** A cluster's name is the beginning of its members' names: 52 and a dash and ten characters make a DNS label of 63. */
const longest = 52;
const serviceName = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Rules of metadata.name, which the API server lets a schema check at the root only. They hold for new objects: a name
 * cannot be corrected, so an old object that breaks them must stay writable, or it could not even be deleted.
 */
const forNewObjects = (demand: string): string => `oldSelf.hasValue() || ${demand}`;

export const nameRules: readonly Rule<string>[] = [
  {
    cel: forNewObjects(`self.metadata.name.size() <= ${longest}`),
    says: `cluster name cannot be more than ${longest} characters long`,
    holds: (name) => name.length <= longest,
  },
  {
    cel: forNewObjects(`self.metadata.name.matches(r'${serviceName.source}')`),
    says: "metadata.name must be small letters, digits and '-', begin with a letter and not end with '-': services are named after it",
    holds: (name) => serviceName.test(name),
  },
];
