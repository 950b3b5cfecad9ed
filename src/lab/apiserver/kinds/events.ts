import type { KubeObject } from '../object.ts';

/** How fields are named in events.k8s.io, by how they are named in the core group, where events are kept. */
const names: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
};
const reversed = Object.fromEntries(Object.entries(names).map(([core, other]) => [other, core]));

const renamed = (object: KubeObject, by: Readonly<Record<string, string>>): KubeObject =>
  Object.fromEntries(Object.entries(object).map(([field, content]) => [by[field] ?? field, content])) as KubeObject;

export const eventTo = (object: KubeObject): KubeObject => renamed(object, names);
export const eventFrom = (object: KubeObject): KubeObject => renamed(object, reversed);
