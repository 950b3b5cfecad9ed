import { requestsOf } from './audit-log.ts';

const reading = new Set(['get', 'list', 'watch']);
/** Not counted: Events, renewals of the Lease, and self-checks of permissions. */
const ignored = new Set(['events', 'leases', 'selfsubjectaccessreviews']);

/** The writes of the operator in a namespace so far, in order. */
export const writesOf = (auditLog: string, namespace: string): readonly string[] =>
  requestsOf(auditLog, `${namespace}:etcd-operator-sa`)
    .filter(({ verb, resource }) => !reading.has(verb) && !ignored.has(resource))
    .map(({ permission }) => permission);
