import type { PreUpgradeTarget } from '../dialect.ts';
import type { ValidationRule } from './rule.ts';

const serviceName = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Rules for metadata.name, which CRD schemas can only check at the root. They apply to new objects only. A name cannot
 * be changed, so existing objects with an invalid name must stay writable: otherwise finalizers could not be removed.
 */
const forNewObjects = (rule: string): string => `oldSelf.hasValue() || ${rule}`;

/** The rules for the name of a cluster. Its Services have this name, and its members have it as prefix. */
export const clusterNameRules = (longest: number): readonly ValidationRule<string>[] => [
  notLonger('cluster', longest),
  {
    cel: forNewObjects(`self.metadata.name.matches(r'${serviceName.source}')`),
    message:
      "metadata.name must be lower-case letters, digits and '-', begin with a letter and not end with '-': services are named after it",
    holds: (name) => serviceName.test(name),
  },
];

export const notLonger = (of: string, longest: number): ValidationRule<string> => ({
  cel: forNewObjects(`self.metadata.name.size() <= ${longest}`),
  message: `${of} name cannot be more than ${longest} characters long`,
  holds: (name) => name.length <= longest,
});

/**
 * The suffix of a pre-upgrade backup in a shared store. It is unique, because namespaces and cluster names have no
 * dots.
 */
export const preUpgradeBackupName = ({ namespace, cluster, version }: PreUpgradeTarget): string =>
  `${namespace}.${cluster}-before-${version}`;
