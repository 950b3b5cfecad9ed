import { at, type Fields, fieldsOf, fill, isFields, numberOf, put, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { selectorOf } from '../selectors.ts';
import type { FieldError } from '../status-error.ts';
import { negativeErrors } from './numbers.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { podSpecErrors } from './pod-errors.ts';
import type { Strategy } from './strategy.ts';

function withTemplate(object: KubeObject, defaults: Fields): void {
  if (!isFields(object['spec'])) object['spec'] = {};
  fill(fieldsOf(object['spec']), defaults);
  const template = at(object, 'spec', 'template', 'spec');
  if (isFields(template)) defaultPodSpec(template);
}

const templateErrors = (object: KubeObject): readonly FieldError[] =>
  podSpecErrors(fieldsOf(at(object, 'spec', 'template', 'spec')), 'spec.template.spec');

function selectorErrors(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const selector = at(object, 'spec', 'selector');
  if (selector === undefined) return [{ type: 'Required', path: 'spec.selector', detail: '' }];
  const labels = fieldsOf(at(object, 'spec', 'template', 'metadata', 'labels'));
  if (!selectorOf(selector)(labels))
    return [
      {
        type: 'Invalid',
        path: 'spec.template.metadata.labels',
        value: labels,
        detail: '`selector` does not match template `labels`',
      },
    ];
  if (old === undefined || same(at(old, 'spec', 'selector'), selector)) return [];
  return [{ type: 'Invalid', path: 'spec.selector', value: selector, detail: 'field is immutable' }];
}

const defaultRollingUpdate = { maxSurge: '25%', maxUnavailable: '25%' };

function completeDeployment(deployment: KubeObject): void {
  withTemplate(deployment, { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = fieldsOf(at(deployment, 'spec', 'strategy'));
  fill(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    strategy['rollingUpdate'] = { ...defaultRollingUpdate, ...fieldsOf(strategy['rollingUpdate']) };
}

export const deployments: Strategy = {
  hasGeneration: true,
  prepare: completeDeployment,
  prepareUpdate: completeDeployment,
  status: () => ({}),
  validate: (deployment, old) => [
    ...negativeErrors(deployment, ['replicas']),
    ...selectorErrors(deployment, old),
    ...templateErrors(deployment),
    ...negativeErrors(deployment, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
    ...deadlineErrors(deployment),
  ],
};

function deadlineErrors(deployment: KubeObject): readonly FieldError[] {
  const { progressDeadlineSeconds: value, minReadySeconds } = fieldsOf(deployment['spec']);
  if (value === undefined || numberOf(value) > numberOf(minReadySeconds)) return [];
  return [
    { type: 'Invalid', path: 'spec.progressDeadlineSeconds', value, detail: 'must be greater than minReadySeconds' },
  ];
}

export const replicaSets: Strategy = {
  hasGeneration: true,
  prepare: (set) => withTemplate(set, { replicas: 1 }),
  prepareUpdate: (set) => withTemplate(set, { replicas: 1 }),
  status: () => ({ replicas: 0 }),
  validate: (set, old) => [
    ...negativeErrors(set, ['replicas', 'minReadySeconds']),
    ...selectorErrors(set, old),
    ...templateErrors(set),
  ],
};

const jobDefaults = {
  parallelism: 1,
  completions: 1,
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  manualSelector: false,
  podReplacementPolicy: 'TerminatingOrFailed',
};

const jobNumbers = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];

/** Labels the pods of a Job with its UID, so that Jobs with equal names do not share pods. */
function labelPods(job: KubeObject): void {
  const { uid, name } = job.metadata;
  const template = fieldsOf(at(job, 'spec', 'template', 'metadata', 'labels'));
  const own = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  put(job, ['spec', 'template', 'metadata', 'labels'], { ...template, ...own });
  put(job, ['spec', 'selector'], { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } });
}

export const jobs: Strategy = {
  hasGeneration: true,
  prepare: (job) => {
    withTemplate(job, jobDefaults);
    if (at(job, 'spec', 'selector') === undefined) labelPods(job);
  },
  prepareUpdate: (job) => withTemplate(job, jobDefaults),
  status: () => ({}),
  validate: (job, old) => [...negativeErrors(job, jobNumbers), ...jobErrors(job, old), ...templateErrors(job)],
};

function jobErrors(job: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const policy = at(job, 'spec', 'template', 'spec', 'restartPolicy');
  if (policy === 'Always')
    return [
      { type: 'Required', path: 'spec.template.spec.restartPolicy', detail: 'valid values: "OnFailure", "Never"' },
    ];
  if (old === undefined || same(at(old, 'spec', 'template'), at(job, 'spec', 'template'))) return [];
  return [{ type: 'Invalid', path: 'spec.template', value: at(job, 'spec', 'template'), detail: 'field is immutable' }];
}
