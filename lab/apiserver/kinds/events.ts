import type { KubeObject } from '../object.ts';

/** The field names of events.k8s.io by those of the core group, in which Events are stored. */
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

export const toEventsGroup = (object: KubeObject): KubeObject => renamed(object, names);
export const toCoreGroup = (object: KubeObject): KubeObject => renamed(object, reversed);
