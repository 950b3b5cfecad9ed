import type { StructuralSchema } from '../../src/apis/common/schema/structural-schema.ts';

/** One step of a path: a field, a key of a map, or an index of a list. */
export type Step = string | number;

/** A place in a schema: a path with one example key for each map and index 0 for each list. */
export interface SchemaPath {
  readonly steps: readonly Step[];
  readonly schema: StructuralSchema;
}

/** The key that stands for all keys of a map. */
export const exampleKey = 'example';

/** Fields of Kubernetes types that our schemas keep without a schema of their own. */
const anyContent: Readonly<Record<string, readonly string[]>> = {
  nodeAffinity: ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'],
  podAffinity: ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'],
  podAntiAffinity: [
    'requiredDuringSchedulingIgnoredDuringExecution',
    'preferredDuringSchedulingIgnoredDuringExecution',
  ],
  valueFrom: ['secretKeyRef', 'configMapKeyRef', 'fieldRef', 'resourceFieldRef', 'fileKeyRef'],
  securityContext: ['seLinuxOptions', 'windowsOptions', 'sysctls', 'seccompProfile', 'fsGroupChangePolicy', 'hostPID'],
  topologySpreadConstraints: ['labelSelector', 'minDomains', 'matchLabelKeys', 'nodeTaintsPolicy'],
  selector: ['matchLabels', 'matchExpressions'],
  dataSource: ['apiGroup', 'kind', 'name'],
  dataSourceRef: ['apiGroup', 'kind', 'name', 'namespace'],
};

/** All paths below the spec of a kind, the spec itself first. */
export function pathsOf(schema: StructuralSchema, steps: readonly Step[] = []): readonly SchemaPath[] {
  const { properties = {}, additionalProperties, items } = schema;
  const inner: readonly (readonly [Step, StructuralSchema])[] = [
    ...Object.entries(properties),
    ...(additionalProperties === undefined ? [] : [[exampleKey, additionalProperties] as const]),
    ...(items === undefined ? [] : [[0, items] as const]),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === true ? unknownFields(steps, properties) : []),
  ];
  return [{ steps, schema }, ...inner.flatMap(([step, below]) => pathsOf(below, [...steps, step]))];
}

const unknownFields = (
  steps: readonly Step[],
  properties: object,
): readonly (readonly [string, StructuralSchema])[] => {
  const field = steps.findLast((step) => typeof step === 'string') ?? '';
  return (anyContent[field] ?? []).filter((name) => !(name in properties)).map((name) => [name, {}]);
};

/** A path as text: spec.pod.etcdEnv[0].name. */
export const pathText = (steps: readonly Step[]): string =>
  steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
