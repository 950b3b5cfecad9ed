import { at, type Fields, fieldsIn, fieldsOf, listOf, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import { forbidden } from '../status-error.ts';

/** A check of a pod security standard; `detail` describes the violation in the words of Kubernetes. */
interface Check {
  readonly reason: string;
  readonly detail: (spec: Fields) => string | undefined;
}

const namesOf = (items: readonly Fields[]): string => items.map(({ name }) => `"${textOf(name)}"`).join(', ');
const listNames = (what: string, items: readonly Fields[]): string =>
  `${what}${items.length > 1 ? 's' : ''} ${namesOf(items)}`;
const containersOf = (spec: Fields): readonly Fields[] => [
  ...fieldsIn(spec['initContainers']),
  ...fieldsIn(spec['containers']),
];
const security = (owner: Fields, ...path: readonly string[]): unknown => at(owner, 'securityContext', ...path);

/** A check of each container by itself. */
const ofContainers = (reason: string, isBad: (container: Fields) => boolean, requirement: string): Check => ({
  reason,
  detail: (spec) => {
    const bad = containersOf(spec).filter(isBad);
    return bad.length === 0 ? undefined : `${listNames('container', bad)} ${requirement}`;
  },
});

/** A check of a setting that containers inherit from the pod. */
const inherited = (reason: string, isGood: (owner: Fields) => boolean | undefined, requirement: string): Check => ({
  reason,
  detail: (spec) => {
    const bad = containersOf(spec).filter((container) => (isGood(container) ?? isGood(spec)) !== true);
    return bad.length === 0 ? undefined : `pod or ${listNames('container', bad)} ${requirement}`;
  },
});

const hostNamespaces = ['hostNetwork', 'hostPID', 'hostIPC'];
const volumeTypes = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected'];
const kindOf = (volume: Fields): string => Object.keys(volume).find((field) => field !== 'name') ?? '';
const isRestricted = (volume: Fields): boolean => ![...volumeTypes, 'secret'].includes(kindOf(volume));
const volumesOf = (spec: Fields, isSelected: (volume: Fields) => boolean): readonly Fields[] =>
  fieldsIn(spec['volumes']).filter(isSelected);

const sharedNamespaces: Check = {
  reason: 'host namespaces',
  detail: (spec) => {
    const used = hostNamespaces.filter((field) => spec[field] === true);
    return used.length === 0 ? undefined : used.map((field) => `${field}=true`).join(', ');
  },
};

const privileged = ofContainers(
  'privileged',
  (container) => security(container, 'privileged') === true,
  'must not set securityContext.privileged=true',
);

const hostPaths: Check = {
  reason: 'hostPath volumes',
  detail: (spec) => {
    const bad = volumesOf(spec, (volume) => kindOf(volume) === 'hostPath');
    return bad.length === 0 ? undefined : listNames('volume', bad);
  },
};

const seccomp = (owner: Fields): boolean | undefined => {
  const type = security(owner, 'seccompProfile', 'type');
  return type === undefined ? undefined : type === 'RuntimeDefault' || type === 'Localhost';
};

const restricted: readonly Check[] = [
  ofContainers(
    'allowPrivilegeEscalation != false',
    (container) => security(container, 'allowPrivilegeEscalation') !== false,
    'must set securityContext.allowPrivilegeEscalation=false',
  ),
  ofContainers(
    'unrestricted capabilities',
    (container) => !listOf(security(container, 'capabilities', 'drop')).includes('ALL'),
    'must set securityContext.capabilities.drop=["ALL"]',
  ),
  {
    reason: 'restricted volume types',
    detail: (spec) => {
      const [first, ...more] = volumesOf(spec, isRestricted);
      if (first === undefined) return undefined;
      const verb = more.length > 0 ? 'use' : 'uses';
      return `${listNames('volume', [first, ...more])} ${verb} restricted volume type "${kindOf(first)}"`;
    },
  },
  inherited(
    'runAsNonRoot != true',
    (owner) => security(owner, 'runAsNonRoot') as boolean | undefined,
    'must set securityContext.runAsNonRoot=true',
  ),
  ofContainers(
    'runAsUser=0',
    (container) => security(container, 'runAsUser') !== undefined && numberOf(security(container, 'runAsUser')) === 0,
    'must not set runAsUser=0',
  ),
  inherited(
    'seccompProfile',
    seccomp,
    'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
  ),
];

const standards: Readonly<Record<string, readonly Check[]>> = {
  baseline: [sharedNamespaces, hostPaths, privileged],
  restricted: [sharedNamespaces, privileged, ...restricted], // the restricted volume types include hostPath
};
const label = 'pod-security.kubernetes.io/enforce';

/** Refuses a pod that violates the pod security standard of its namespace. */
export function admitPod(pod: KubeObject, { store }: ServerState): void {
  const { name, namespace = '' } = pod.metadata;
  const labels = fieldsOf(store.get({ collection: '/namespaces', namespace: '', name: namespace })?.metadata.labels);
  const level = textOf(labels[label]);
  const version = textOf(labels[`${label}-version`]) || 'latest';
  const violated = (standards[level] ?? []).flatMap(({ reason, detail }) => {
    const found = detail(fieldsOf(pod['spec']));
    return found === undefined ? [] : [`${reason} (${found})`];
  });
  if (violated.length > 0)
    throw forbidden(
      { group: '', plural: 'pods', name },
      `violates PodSecurity "${level}:${version}": ${violated.join(', ')}`,
    );
}
