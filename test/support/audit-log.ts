import { globSync, readFileSync } from 'node:fs';
import { nameOfRight } from '../../src/main/rights.ts';

interface Entry {
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly apiGroup?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What somebody asked of the API server. */
export interface Asked {
  /** As in `patch etcdclusters/status.etcd.database.coreos.com`. */
  readonly right: string;
  readonly verb: string;
  readonly resource: string;
  readonly isGranted: boolean;
}

/** All that a service account has asked for so far, in order. Files that were set aside because they were full are read as well. */
export function askedBy(auditLog: string, account: string): readonly Asked[] {
  const user = `"username":"system:serviceaccount:${account}"`;
  return globSync(auditLog.replace(/\.log$/, '*.log'))
    .toSorted((one, other) => Number(one === auditLog) - Number(other === auditLog) || one.localeCompare(other))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.includes(user))
    .map((line) => askedIn(JSON.parse(line) as Entry));
}

function askedIn({ verb, objectRef, annotations = {} }: Entry): Asked {
  const { resource: plural = '', subresource, apiGroup: group = '' } = objectRef ?? {};
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const isGranted = annotations['authorization.k8s.io/decision'] === 'allow';
  return { verb, resource, isGranted, right: nameOfRight({ verb, resource, group }) };
}
