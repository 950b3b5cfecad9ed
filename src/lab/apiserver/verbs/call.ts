import type { User } from '../auth/user.ts';
import type { Target } from '../http/paths.ts';
import { type FieldError, invalid, type Named, supported } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** One request about a resource, as far as it is understood. */
export interface Call {
  readonly state: ServerState;
  readonly type: ResourceType;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
}

export interface Answer {
  readonly code: number;
  readonly body: object;
  readonly warnings?: readonly string[];
}

/** How a change is made. */
export interface Writing {
  readonly dryRun: boolean;
  /** Who is remembered as having set the fields. */
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource?: string;
}

/** The name that the options of a request go by, where they are wrong. */
type Options = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

export function writingOf({ query, userAgent, target }: Call, kind: Options = 'CreateOptions'): Writing {
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
    : [{ type: 'NotSupported', path: 'dryRun', value, says: supported(['All']) }];

/** Changes that the server makes by itself. */
export const byItself: Writing = { dryRun: false, manager: 'kube-apiserver', operation: 'Update' };

export const namedOf = ({ group, plural }: ResourceType, name: string): Named => ({ group, plural, name });
