import type { ValidationRule } from './schema/rule.ts';

/**
 * etcd settings that users cannot set: identity, data directory, listen addresses and durability. The operator sets
 * them by flags, some of them from its own INITIAL_CLUSTER* variables. From 3.4, etcd does not start if a setting has
 * both a flag and a variable.
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

/** The rule that a variable is not a managed setting. The message names the field for TLS. */
export const noManagedSetting = (fieldOfTls: string): ValidationRule<string> => ({
  cel: `!self.matches(r'${managedSetting.source}')`,
  message: `is set by the operator and must not be set here: leave it out (TLS files come from ${fieldOfTls})`,
  holds: (name) => !managedSetting.test(name),
});
