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

/**
 * Settings that decide who a member is, where its data and its doors are, and whether it keeps what it has promised. The
 * operator sets them by flags, some of which it feeds from variables INITIAL_CLUSTER* of its own; from etcd 3.4 a variable
 * beside its flag even keeps the server from starting.
 */
const managedSetting = new RegExp(
  `^((ETCD_)?INITIAL_CLUSTER.*|ETCD_(${[
    'NAME',
    'DATA_DIR',
    'WAL_DIR',
    'CONFIG_FILE',
    'INITIAL_ADVERTISE.*',
    'LISTEN_.*',
    'ADVERTISE_.*',
    'FORCE_NEW_CLUSTER.*',
    'STRICT_RECONFIG_CHECK',
    'UNSAFE_NO_FSYNC',
    'DISCOVERY.*',
    'PROXY.*',
    '(PEER_)?(CLIENT_)?(CERT|KEY)_FILE',
    '(PEER_)?(TRUSTED_)?CA_FILE',
    '(PEER_)?CLIENT_CERT_AUTH',
    '(PEER_)?AUTO_TLS',
  ].join('|')}))$`,
);

export const noManagedSetting: Rule<string> = {
  cel: `!self.matches(r'${managedSetting.source}')`,
  says: 'is set by the operator and must not be set here: leave it out (TLS files come from spec.TLS)',
  holds: (name) => !managedSetting.test(name),
};
