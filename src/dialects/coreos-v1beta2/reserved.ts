import type { Rule } from '../rule.ts';

type Entries = Readonly<Record<string, string>>;

/** Everything under this prefix, in labels and annotations of pods, is the operator's. */
export const ownPrefix = 'etcd.database.coreos.com/';

export const noReservedLabel: Rule<Entries> = {
  cel: `self.all(name, name != 'app' && !name.startsWith('etcd_') && !name.startsWith('${ownPrefix}'))`,
  says: 'spec: pod labels contains reserved label', // the original's words; which ones they are is in the field's description
  holds: (labels) =>
    Object.keys(labels).every((name) => name !== 'app' && !name.startsWith('etcd_') && !name.startsWith(ownPrefix)),
};

export const noReservedAnnotation: Rule<Entries> = {
  cel: `self.all(name, name != 'etcd.version' && !name.startsWith('${ownPrefix}'))`,
  says: `the annotations etcd.version and ${ownPrefix}* are set by the operator: leave them out`,
  holds: (annotations) =>
    Object.keys(annotations).every((name) => name !== 'etcd.version' && !name.startsWith(ownPrefix)),
};
