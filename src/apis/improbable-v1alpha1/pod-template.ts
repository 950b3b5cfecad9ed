import { z } from 'zod';
import { noManagedSetting } from '../common/managed-settings.ts';
import {
  imagePullSecrets,
  priorityClassName,
  serviceAccountName,
  topologySpreadConstraints,
} from '../common/member-settings.ts';
import { limitedPodText } from '../common/pod-budget.ts';
import {
  affinity,
  environment,
  labelValue,
  nodeSelector,
  podSecurityContext,
  qualifiedNames,
  resources,
  toleration,
} from '../common/schema/kubernetes-types.ts';
import { table, text, type ValidationRule, withRules } from '../common/schema/rule.ts';
import { ownPrefix } from './names.ts';

type Entries = Readonly<Record<string, string>>;

interface Metadata {
  readonly labels?: Entries | undefined;
  readonly annotations?: Entries | undefined;
}

/** The label of all etcd pods of the original. */
export const nameLabel = 'app.kubernetes.io/name';
/** The label with the cluster name. */
export const clusterLabel = `${ownPrefix}cluster-name`;

const isReserved = (name: string): boolean => name.startsWith(ownPrefix);

const noReservedAnnotation: ValidationRule<Metadata> = {
  cel: `!has(self.annotations) || self.annotations.all(name, !name.startsWith('${ownPrefix}'))`,
  message: "Annotation name is a reserved name ('etcd.improbable.io' prefix)", // the original's message
  holds: ({ annotations = {} }) => !Object.keys(annotations).some(isReserved),
};

const noReservedLabel: ValidationRule<Metadata> = {
  cel: `!has(self.labels) || self.labels.all(name, name != '${nameLabel}' && !name.startsWith('${ownPrefix}'))`,
  message: `Label name is a reserved name ('${nameLabel}', or 'etcd.improbable.io' prefix)`,
  holds: ({ labels = {} }) => !Object.keys(labels).some((name) => name === nameLabel || isReserved(name)),
};

const metadata = withRules(
  z.object({
    annotations: withRules(table(text(8192), 30), qualifiedNames('annotation'))
      .optional()
      .describe(`annotations are added to the pods. Reserved: ${ownPrefix}*.`),
    labels: withRules(table(labelValue, 64), qualifiedNames('label'))
      .optional()
      .describe(`labels are added to the pods. Reserved: ${nameLabel} and ${ownPrefix}*.`),
  }),
  noReservedAnnotation,
  noReservedLabel,
);

const fields = z.object({
  metadata: metadata.optional().describe('metadata has annotations and labels of the pods.'),
  resources: resources
    .optional()
    .describe(
      'resources are the requests and limits of the etcd container. A CPU limit also sets GOMAXPROCS, rounded down to whole cores.',
    ),
  affinity: affinity
    .optional()
    .describe('affinity is the affinity of the member pods. It replaces the default, which prefers different nodes.'),
  nodeSelector: nodeSelector.optional().describe('nodeSelector selects the nodes for members by label.'),
  tolerations: z.array(toleration).max(64).optional().describe('tolerations are the tolerations of the member pods.'),
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  priorityClassName: priorityClassName.optional(),
  securityContext: podSecurityContext
    .optional()
    .describe('securityContext is the security context of the member pods.'),
  serviceAccountName: serviceAccountName.optional(),
  imagePullSecrets: imagePullSecrets.optional(),
  etcdEnv: environment(noManagedSetting('spec.tls'))
    .optional()
    .describe(
      'etcdEnv are environment variables of the etcd container, for etcd settings that the operator does not manage.',
    ),
});

export const podTemplate = withRules(
  fields,
  limitedPodText<z.output<typeof fields>>(
    {
      env: 'etcdEnv',
      annotations: 'metadata.annotations',
      hasAnnotations: 'has(self.metadata) && has(self.metadata.annotations)',
    },
    ({ etcdEnv, metadata: given }) => ({ etcdEnv, annotations: given?.annotations }),
  ),
);
