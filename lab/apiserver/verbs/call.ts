import type { User } from '../auth/user.ts';
import type { RequestTarget } from '../http/paths.ts';
import type { ServerState } from '../state.ts';
import { type ErrorSubject, type FieldError, invalid, supported } from '../status-error.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** One parsed request for a resource. */
export interface Call {
  readonly state: ServerState;
  readonly type: ResourceType;
  readonly target: RequestTarget;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
}

export interface ApiResponse {
  readonly code: number;
  readonly body: object;
  readonly warnings?: readonly string[];
}

/** The options of a write. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** The field manager of the change. */
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource?: string;
}

/** The kind of the options object, for errors. */
type Options = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

export function writeOptionsOf({ query, userAgent, target }: Call, kind: Options = 'CreateOptions'): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const errors = dryRunErrors(dryRun);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind, name: '' }, errors);
  return {
    dryRun: dryRun.length > 0,
    manager: query.get('fieldManager') || (userAgent.split('/')[0] ?? '') || 'unknown',
    operation: 'Update',
    ...(target.subresource !== undefined && { subresource: target.subresource }),
  };
}

export const dryRunErrors = (value: readonly unknown[]): readonly FieldError[] =>
  value.every((one) => one === 'All')
    ? []
    : [{ type: 'NotSupported', path: 'dryRun', value, detail: supported(['All']) }];

/** The options of changes that the server makes itself. */
export const serverWrite: WriteOptions = { dryRun: false, manager: 'kube-apiserver', operation: 'Update' };

export const namedOf = ({ group, plural }: ResourceType, name: string): ErrorSubject => ({ group, plural, name });
