import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A write of the operator, from the audit log of the API server. */
export interface Write {
  readonly verb: string;
  /** With the subresource, as in `pods/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** When the API server received the request, in milliseconds. */
  readonly receivedAt: number;
  /** When the API server had answered. */
  readonly answeredAt: number;
  readonly code: number;
}

interface Entry {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Not counted: Events, renewals of the Lease, and self-checks of permissions. */
const ignored = new Set(['events', 'leases', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews']);

/** Logs writes only. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', verbs: ['get', 'list', 'watch'] }, { level: 'Metadata' }],
};

/** The audit log of the API server. */
export class AuditLog {
  readonly flags: readonly string[];
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, 'audit.log');
    writeFileSync(join(directory, 'policy.json'), JSON.stringify(policy));
    writeFileSync(this.#file, '');
    this.flags = [
      `--audit-policy-file=${join(directory, 'policy.json')}`,
      `--audit-log-path=${this.#file}`,
      '--audit-log-maxsize=100000',
    ];
  }

  /** The writes of the operator so far. */
  writes(): readonly Write[] {
    return this.#entries('etcd-operator/').filter(({ resource }) => !ignored.has(resource));
  }

  /** The writes of a client so far. */
  #entries(userAgent: string): readonly Write[] {
    return readFileSync(this.#file, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"userAgent":"${userAgent}`))
      .map((line) => writeOf(JSON.parse(line) as Entry));
  }

  /** The writes of the bench so far. */
  ofBench(): readonly Write[] {
    return this.#entries('lab-test');
  }
}

function writeOf({ verb, objectRef, responseStatus, requestReceivedTimestamp, stageTimestamp }: Entry): Write {
  const { resource = '', subresource, namespace = '', name = '' } = objectRef ?? {};
  return {
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    receivedAt: millisOf(requestReceivedTimestamp),
    answeredAt: millisOf(stageTimestamp),
    code: responseStatus?.code ?? 0,
  };
}

/** With microseconds. */
const millisOf = (time: string): number => {
  const [, whole = '', fraction = '0'] = /^(.*)\.(\d+)Z$/.exec(time) ?? [];
  return Date.parse(`${whole}Z`) + Number(`0.${fraction}`) * 1000;
};
