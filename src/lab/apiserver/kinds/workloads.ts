import { at, type Fields, fieldsOf, fill, isFields, numberOf, put, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../refusal.ts';
import { selectorOf } from '../selectors.ts';
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
  if (selector === undefined) return [{ type: 'Required', path: 'spec.selector', says: '' }];
  const labels = fieldsOf(at(object, 'spec', 'template', 'metadata', 'labels'));
  if (!selectorOf(selector)(labels))
    return [
      {
        type: 'Invalid',
        path: 'spec.template.metadata.labels',
        value: labels,
        says: '`selector` does not match template `labels`',
      },
    ];
  if (old === undefined || same(at(old, 'spec', 'selector'), selector)) return [];
  return [{ type: 'Invalid', path: 'spec.selector', value: selector, says: 'field is immutable' }];
}

const quarter = { maxSurge: '25%', maxUnavailable: '25%' };

function completeDeployment(deployment: KubeObject): void {
  withTemplate(deployment, { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = fieldsOf(at(deployment, 'spec', 'strategy'));
  fill(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate')
    strategy['rollingUpdate'] = { ...quarter, ...fieldsOf(strategy['rollingUpdate']) };
}

export const deployments: Strategy = {
  counts: true,
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
    { type: 'Invalid', path: 'spec.progressDeadlineSeconds', value, says: 'must be greater than minReadySeconds' },
  ];
}

export const replicaSets: Strategy = {
  counts: true,
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

/** The pods of a job are known by its identity, so that no other job's are taken for its own. */
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
  counts: true,
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
    return [{ type: 'Required', path: 'spec.template.spec.restartPolicy', says: 'valid values: "OnFailure", "Never"' }];
  if (old === undefined || same(at(old, 'spec', 'template'), at(job, 'spec', 'template'))) return [];
  return [{ type: 'Invalid', path: 'spec.template', value: at(job, 'spec', 'template'), says: 'field is immutable' }];
}
