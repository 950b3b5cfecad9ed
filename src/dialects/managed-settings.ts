import type { Rule } from './rule.ts';

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

/** The rule that a variable is none of those; users learn in which field TLS is set instead. */
export const noManagedSetting = (fieldOfTls: string): Rule<string> => ({
  cel: `!self.matches(r'${managedSetting.source}')`,
  says: `is set by the operator and must not be set here: leave it out (TLS files come from ${fieldOfTls})`,
  holds: (name) => !managedSetting.test(name),
});
