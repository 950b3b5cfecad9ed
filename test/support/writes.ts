import { readFileSync } from 'node:fs';

interface Entry {
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
}

const reading = new Set(['get', 'list', 'watch']);
/** Events are for people, and the Lease is renewed for as long as the operator lives: both are counted elsewhere. */
const aside = new Set(['events', 'leases', 'selfsubjectaccessreviews']);

/** What the operator of a namespace has written so far, by the API server's own account: `patch etcdclusters/status`. */
export const writesOf = (auditLog: string, namespace: string): readonly string[] =>
  readFileSync(auditLog, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`system:serviceaccount:${namespace}:etcd-operator-sa`))
    .map((line) => JSON.parse(line) as Entry)
    .filter(({ verb, objectRef }) => !reading.has(verb) && !aside.has(objectRef?.resource ?? ''))
    .map(
      ({ verb, objectRef }) =>
        `${verb} ${objectRef?.resource}${objectRef?.subresource ? `/${objectRef.subresource}` : ''}`,
    );
