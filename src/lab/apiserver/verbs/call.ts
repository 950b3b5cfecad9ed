import type { User } from '../auth/user.ts';
import type { Target } from '../http/paths.ts';
import type { Named } from '../refusal.ts';
import { badRequest } from '../refusal.ts';
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

export function writingOf({ query, userAgent, target }: Call): Writing {
  const dryRun = query.getAll('dryRun');
  if (dryRun.some((value) => value !== 'All'))
    throw badRequest(`Invalid value: "${dryRun.join(',')}": supported values: "All"`);
  return {
    dryRun: dryRun.length > 0,
    manager: query.get('fieldManager') || (userAgent.split('/')[0] ?? '') || 'unknown',
    operation: 'Update',
    ...(target.subresource !== undefined && { subresource: target.subresource }),
  };
}

/** Changes that the server makes by itself. */
export const byItself: Writing = { dryRun: false, manager: 'kube-apiserver', operation: 'Update' };

export const namedOf = ({ group, plural }: ResourceType, name: string): Named => ({ group, plural, name });
