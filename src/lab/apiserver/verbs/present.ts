import { eventFrom, eventTo } from '../kinds/events.ts';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';

/** A stored object as the asked version shows it. */
export function present(type: ResourceType, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(type);
  if (object.apiVersion === apiVersion) return object;
  const shown = type.collection === '/events' ? eventTo(object) : object;
  return { ...shown, apiVersion };
}

/** The reverse: an object of the asked version as it is stored. */
export function stored(type: ResourceType, object: KubeObject): KubeObject {
  if (type.group === 'events.k8s.io') return { ...eventFrom(object), apiVersion: 'v1' };
  const version = type.custom?.storageVersion;
  return version === undefined ? object : { ...object, apiVersion: apiVersionOf({ group: type.group, version }) };
}
