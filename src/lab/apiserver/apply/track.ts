import type { KubeObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { Writing } from '../verbs/call.ts';

export interface Tracked {
  readonly type: ResourceType;
  readonly writing: Writing;
  readonly old?: KubeObject;
}

/** Writes down who set the fields that are new or different. The object is changed. */
export function trackUpdate(_object: KubeObject, _tracked: Tracked): void {}
