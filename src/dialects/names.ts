import type { Safeguarded } from './dialect.ts';
import type { Rule } from './rule.ts';

const serviceName = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Rules of metadata.name, which the API server lets a schema check at the root only. They hold for new objects: a name
 * cannot be corrected, so an old object that breaks them must stay writable, or it could not even be deleted.
 */
const forNewObjects = (demand: string): string => `oldSelf.hasValue() || ${demand}`;

/** The rules for the name of a cluster, after which its services are named, and its members with something appended. */
export const clusterNameRules = (longest: number): readonly Rule<string>[] => [
  notLonger('cluster', longest),
  {
    cel: forNewObjects(`self.metadata.name.matches(r'${serviceName.source}')`),
    says: "metadata.name must be small letters, digits and '-', begin with a letter and not end with '-': services are named after it",
    holds: (name) => serviceName.test(name),
  },
];

export const notLonger = (of: string, longest: number): Rule<string> => ({
  cel: forNewObjects(`self.metadata.name.size() <= ${longest}`),
  says: `${of} name cannot be more than ${longest} characters long`,
  holds: (name) => name.length <= longest,
});

/** What the backup before an upgrade is called in a store that others share: neither name can have a dot in it. */
export const nameBefore = ({ namespace, cluster, version }: Safeguarded): string =>
  `${namespace}.${cluster}-before-${version}`;
