import type { MemberTemplate } from '../../core/cluster/model/template.ts';

/**
 * Fields of Kubernetes types that a spec holds without a schema. The API server drops a field that it does not know
 * when the pod or PVC is created, so a misspelt affinity would have no effect, in silence.
 */
interface Known {
  readonly [field: string]: Known | 'any';
}

const fieldsNamed = (...names: readonly string[]): Known => Object.fromEntries(names.map((name) => [name, 'any']));

const requirement = fieldsNamed('key', 'operator', 'values');
const selector: Known = { matchLabels: 'any', matchExpressions: requirement };
const nodeTerm: Known = { matchExpressions: requirement, matchFields: requirement };
const podTerm: Known = {
  ...fieldsNamed('namespaces', 'topologyKey', 'matchLabelKeys', 'mismatchLabelKeys'),
  labelSelector: selector,
  namespaceSelector: selector,
};
const podTerms: Known = {
  requiredDuringSchedulingIgnoredDuringExecution: podTerm,
  preferredDuringSchedulingIgnoredDuringExecution: { weight: 'any', podAffinityTerm: podTerm },
};

const affinity: Known = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeTerm },
    preferredDuringSchedulingIgnoredDuringExecution: { weight: 'any', preference: nodeTerm },
  },
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
};

const topologySpreadConstraints: Known = {
  ...fieldsNamed('topologyKey', 'maxSkew', 'whenUnsatisfiable', 'minDomains', 'matchLabelKeys'),
  ...fieldsNamed('nodeAffinityPolicy', 'nodeTaintsPolicy'),
  labelSelector: selector,
};

const securityContext: Known = {
  ...fieldsNamed('runAsUser', 'runAsGroup', 'runAsNonRoot', 'fsGroup', 'fsGroupChangePolicy', 'supplementalGroups'),
  ...fieldsNamed('supplementalGroupsPolicy', 'seLinuxChangePolicy'),
  seLinuxOptions: fieldsNamed('user', 'role', 'type', 'level'),
  windowsOptions: fieldsNamed('gmsaCredentialSpecName', 'gmsaCredentialSpec', 'runAsUserName', 'hostProcess'),
  sysctls: fieldsNamed('name', 'value'),
  seccompProfile: fieldsNamed('type', 'localhostProfile'),
  appArmorProfile: fieldsNamed('type', 'localhostProfile'),
};

const valueFrom: Known = {
  fieldRef: fieldsNamed('apiVersion', 'fieldPath'),
  resourceFieldRef: fieldsNamed('containerName', 'resource', 'divisor'),
  configMapKeyRef: fieldsNamed('name', 'key', 'optional'),
  secretKeyRef: fieldsNamed('name', 'key', 'optional'),
  fileKeyRef: fieldsNamed('volumeName', 'path', 'key', 'optional'),
};

/** The paths of the fields of an API with the settings of pods and of their volumes. */
interface Fields {
  readonly pod: string;
  readonly volume: string;
}

/** The paths of all fields in a spec that Kubernetes does not know. */
export function unknownFields(template: MemberTemplate, { pod, volume }: Fields): readonly string[] {
  const { claim, env, passed } = template;
  return [
    ...unknownIn(template.affinity, affinity, `${pod}.affinity`),
    ...unknownIn(template.securityContext, securityContext, `${pod}.securityContext`),
    ...unknownIn(passed['topologySpreadConstraints'], topologySpreadConstraints, `${pod}.topologySpreadConstraints`),
    ...env.flatMap((each) =>
      unknownIn(each['valueFrom'], valueFrom, `${pod}.etcdEnv[${String(each['name'])}].valueFrom`),
    ),
    ...unknownIn(claim?.['selector'], selector, `${volume}.selector`),
  ];
}

function unknownIn(value: unknown, known: Known, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => unknownIn(item, known, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return []; // of a wrong type: the API server refuses the pod
  return Object.entries(value).flatMap(([field, inner]) => {
    const below = Object.hasOwn(known, field) ? known[field] : undefined;
    if (below === undefined) return [`${path}.${field}`];
    return below === 'any' ? [] : unknownIn(inner, below, `${path}.${field}`);
  });
}
