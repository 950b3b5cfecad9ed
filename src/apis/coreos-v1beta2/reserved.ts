import type { ValidationRule } from '../common/schema/rule.ts';

type Entries = Readonly<Record<string, string>>;

/** Labels and annotations of pods with this prefix are reserved for the operator. */
export const ownPrefix = 'etcd.database.coreos.com/';

export const noReservedLabel: ValidationRule<Entries> = {
  cel: `self.all(name, name != 'app' && !name.startsWith('etcd_') && !name.startsWith('${ownPrefix}'))`,
  message: 'spec: pod labels contains reserved label', // the original's message; the field's description lists the reserved labels
  holds: (labels) =>
    Object.keys(labels).every((name) => name !== 'app' && !name.startsWith('etcd_') && !name.startsWith(ownPrefix)),
};

export const noReservedAnnotation: ValidationRule<Entries> = {
  cel: `self.all(name, name != 'etcd.version' && !name.startsWith('${ownPrefix}'))`,
  message: `the annotations etcd.version and ${ownPrefix}* are set by the operator: leave them out`,
  holds: (annotations) =>
    Object.keys(annotations).every((name) => name !== 'etcd.version' && !name.startsWith(ownPrefix)),
};
