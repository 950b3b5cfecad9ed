import { at, fieldsIn, fieldsOf, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ageOf, shortDuration } from './duration.ts';

const age = ({ metadata }: KubeObject): string => ageOf(metadata.creationTimestamp);

/** Formats a selector as for `kubectl -l`. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const equal = Object.entries(fieldsOf(matchLabels))
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .sort((a, b) => (a < b ? -1 : 1));
  const others = fieldsIn(matchExpressions).map(({ key, operator, values }) => {
    const list = Array.isArray(values) ? ` (${values.join(',')})` : '';
    return `${textOf(key)} ${textOf(operator).toLowerCase()}${list}`;
  });
  return [...equal, ...others].join(',') || '<none>';
}

const templateOf = (object: KubeObject): readonly string[] => {
  const containers = fieldsIn(at(object, 'spec', 'template', 'spec', 'containers'));
  const listed = (field: string): string => containers.map((one) => textOf(one[field])).join(',');
  return [listed('name'), listed('image'), selectorText(at(object, 'spec', 'selector'))];
};

const statusNumber = (object: KubeObject, field: string): number => numberOf(at(object, 'status', field));

export const deploymentCells = (deployment: KubeObject): readonly unknown[] => [
  deployment.metadata.name,
  `${statusNumber(deployment, 'readyReplicas')}/${numberOf(at(deployment, 'spec', 'replicas'))}`,
  String(statusNumber(deployment, 'updatedReplicas')),
  String(statusNumber(deployment, 'availableReplicas')),
  age(deployment),
  ...templateOf(deployment),
];

export const replicaSetCells = (set: KubeObject): readonly unknown[] => [
  set.metadata.name,
  numberOf(at(set, 'spec', 'replicas')),
  statusNumber(set, 'replicas'),
  statusNumber(set, 'readyReplicas'),
  age(set),
  ...templateOf(set),
];

export function jobCells(job: KubeObject): readonly unknown[] {
  const { completions } = fieldsOf(job['spec']);
  const { startTime, completionTime, succeeded } = fieldsOf(job['status']);
  const until = typeof completionTime === 'string' ? Date.parse(completionTime) : Date.now();
  const took = typeof startTime === 'string' ? shortDuration((until - Date.parse(startTime)) / 1000) : '';
  const done = numberOf(succeeded);
  return [
    job.metadata.name,
    jobStatus(job),
    `${done}/${numberOf(completions) || 1}`,
    took,
    age(job),
    ...templateOf(job),
  ];
}

function jobStatus(job: KubeObject): string {
  const holds = (type: string): boolean =>
    fieldsIn(at(job, 'status', 'conditions')).some(
      (condition) => condition['type'] === type && condition['status'] === 'True',
    );
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (holds('Suspended')) return 'Suspended';
  return holds('FailureTarget') ? 'FailureTarget' : 'Running';
}
