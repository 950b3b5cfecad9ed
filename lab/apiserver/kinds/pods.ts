import { at, type Fields, fieldsIn, fieldsOf, fill, isFields, numberOf, textOf } from '../json.ts';
import { type KubeObject, now } from '../object.ts';
import type { ServerState } from '../state.ts';
import { forbidden } from '../status-error.ts';
import { generatedName } from './names.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { podChangeErrors, podSpecErrors } from './pod-errors.ts';
import { admitPod } from './pod-security.ts';
import type { Strategy } from './strategy.ts';

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenSeconds = 3607;
const toleratedSeconds = 300;

export const pods: Strategy = {
  hasGeneration: true,
  prepare: (pod, state) => {
    if (!isFields(pod['spec'])) pod['spec'] = {};
    const spec = fieldsOf(pod['spec']);
    defaultPodSpec(spec);
    fill(spec, {
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: priorityOf(pod, state),
    });
    useServiceAccount(pod, spec, state);
    addDefaultTolerations(spec);
  },
  admit: (pod, state) => {
    admitPod(pod, state);
    refuseHostPaths(pod);
  },
  prepareUpdate: (pod) => defaultPodSpec(fieldsOf(pod['spec'])),
  status: (pod) => ({ phase: 'Pending', qosClass: qosClassOf(fieldsOf(pod['spec'])) }),
  validate: (pod, old) => (old === undefined ? podSpecErrors(fieldsOf(pod['spec'])) : podChangeErrors(pod, old)),
};

/** Refuses hostPath volumes: pods run as the user of the lab and could read and change that user's files. */
function refuseHostPaths(pod: KubeObject): void {
  const volume = fieldsIn(at(pod, 'spec', 'volumes')).find(({ hostPath }) => hostPath !== undefined);
  if (volume === undefined) return;
  throw forbidden(
    { group: '', plural: 'pods', name: pod.metadata.name },
    `volume "${textOf(volume['name'])}": the lab refuses hostPath, because its pods run as your own user and could read ` +
      'all your files: use an emptyDir or a PersistentVolumeClaim',
  );
}

function priorityOf(pod: KubeObject, { store }: ServerState): number {
  const name = textOf(at(pod, 'spec', 'priorityClassName'));
  const found = store.get({ collection: 'scheduling.k8s.io/priorityclasses', namespace: '', name });
  if (name !== '' && found === undefined)
    throw forbidden(
      { group: '', plural: 'pods', name: pod.metadata.name },
      `no PriorityClass with name ${name} was found`,
    );
  return numberOf(found?.['value']);
}

/** Sets the ServiceAccount of a pod, and mounts its token where clients expect it. */
function useServiceAccount(pod: KubeObject, spec: Fields, { store }: ServerState): void {
  const name = textOf(spec['serviceAccountName']) || textOf(spec['serviceAccount']) || 'default';
  const { namespace = '' } = pod.metadata;
  const account = store.get({ collection: '/serviceaccounts', namespace, name });
  if (account === undefined)
    throw forbidden(
      { group: '', plural: 'pods', name: pod.metadata.name },
      `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
    );
  Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
  const wantsToken = spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true;
  if (wantsToken === true) mountToken(spec);
}

function mountToken(spec: Fields): void {
  const name = generatedName('kube-api-access-');
  const containers = [...fieldsIn(spec['initContainers']), ...fieldsIn(spec['containers'])];
  const without = containers.filter((one) =>
    fieldsIn(one['volumeMounts']).every(({ mountPath }) => mountPath !== tokenPath),
  );
  if (without.length === 0) return;
  for (const container of without)
    container['volumeMounts'] = [
      ...fieldsIn(container['volumeMounts']),
      { name, readOnly: true, mountPath: tokenPath },
    ];
  const sources = [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ];
  spec['volumes'] = [...fieldsIn(spec['volumes']), { name, projected: { sources, defaultMode: 0o644 } }];
}

/** Adds the default tolerations, so that a short outage of a node does not evict its pods. */
function addDefaultTolerations(spec: Fields): void {
  const tolerations = fieldsIn(spec['tolerations']);
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter((key) => !tolerations.some((one) => isTolerated(one, key)))
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: toleratedSeconds }));
  spec['tolerations'] = [...tolerations, ...added];
}

const isTolerated = ({ key, effect }: Fields, taint: string): boolean =>
  (key === taint || !key) && (effect === 'NoExecute' || !effect);

function qosClassOf(spec: Fields): string {
  const resources = fieldsIn(spec['containers']).map((container) => fieldsOf(container['resources']));
  const isEmpty = resources.every(
    ({ limits, requests }) => Object.keys({ ...fieldsOf(limits), ...fieldsOf(requests) }).length === 0,
  );
  if (isEmpty) return 'BestEffort';
  const isFull = resources.every(({ limits, requests }) =>
    ['cpu', 'memory'].every((name) => at(limits, name) !== undefined && at(limits, name) === at(requests, name)),
  );
  return isFull ? 'Guaranteed' : 'Burstable';
}

/** The pod with its node and the PodScheduled condition. */
export const assignedPod = (pod: KubeObject, node: string): KubeObject => ({
  ...pod,
  spec: { ...fieldsOf(pod['spec']), nodeName: node },
  status: {
    ...fieldsOf(pod['status']),
    conditions: [
      ...fieldsIn(at(pod, 'status', 'conditions')).filter(({ type }) => type !== 'PodScheduled'),
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now() },
    ],
  },
});
