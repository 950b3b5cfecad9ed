import { toCoreGroup, toEventsGroup } from '../kinds/events.ts';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';

/** Converts a stored object to the requested version. */
export function present(type: ResourceType, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(type);
  if (object.apiVersion === apiVersion) return object;
  const converted = type.collection === '/events' ? toEventsGroup(object) : object;
  return { ...converted, apiVersion };
}

/** Converts an object to the version that is stored. */
export function toStorage(type: ResourceType, object: KubeObject): KubeObject {
  if (type.group === 'events.k8s.io') return { ...toCoreGroup(object), apiVersion: 'v1' };
  const version = type.custom?.storageVersion;
  return version === undefined ? object : { ...object, apiVersion: apiVersionOf({ group: type.group, version }) };
}
