import { askedBy } from './audit-log.ts';

const reading = new Set(['get', 'list', 'watch']);
/** Events are for people, and the Lease is renewed for as long as the operator lives: both are counted elsewhere. */
const aside = new Set(['events', 'leases', 'selfsubjectaccessreviews']);

/** What the operator of a namespace has written so far, in order. */
export const writesOf = (auditLog: string, namespace: string): readonly string[] =>
  askedBy(auditLog, `${namespace}:etcd-operator-sa`)
    .filter(({ verb, resource }) => !reading.has(verb) && !aside.has(resource))
    .map(({ right }) => right);
