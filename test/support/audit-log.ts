import { globSync, readFileSync } from 'node:fs';
import { nameOfRight } from '../../src/operator/rbac.ts';

interface AuditEntry {
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly apiGroup?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A request in the audit log of the API server. */
export interface AuditedRequest {
  /** As in `patch etcdclusters/status.etcd.database.coreos.com`. */
  readonly permission: string;
  readonly verb: string;
  readonly resource: string;
  readonly isGranted: boolean;
}

/** All requests of a ServiceAccount so far, in order. Rotated log files are included. */
export function requestsOf(auditLog: string, account: string): readonly AuditedRequest[] {
  const user = `"username":"system:serviceaccount:${account}"`;
  return globSync(auditLog.replace(/\.log$/, '*.log'))
    .toSorted((one, other) => Number(one === auditLog) - Number(other === auditLog) || one.localeCompare(other))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.includes(user))
    .map((line) => requestIn(JSON.parse(line) as AuditEntry));
}

function requestIn({ verb, objectRef, annotations = {} }: AuditEntry): AuditedRequest {
  const { resource: plural = '', subresource, apiGroup: group = '' } = objectRef ?? {};
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const isGranted = annotations['authorization.k8s.io/decision'] === 'allow';
  return { verb, resource, isGranted, permission: nameOfRight({ verb, resource, group }) };
}
