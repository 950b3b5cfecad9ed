import { z } from 'zod';
import {
  affinity,
  environment,
  labelValue,
  nodeSelector,
  podSecurityContext,
  properNames,
  resources,
  toleration,
} from '../kubernetes-types.ts';
import { noManagedSetting } from '../managed-settings.ts';
import {
  imagePullSecrets,
  priorityClassName,
  serviceAccountName,
  topologySpreadConstraints,
} from '../member-settings.ts';
import { limitedTexts } from '../pod-budget.ts';
import { type Rule, ruled, table, text } from '../rule.ts';
import { ownPrefix } from './names.ts';

type Entries = Readonly<Record<string, string>>;

interface Metadata {
  readonly labels?: Entries | undefined;
  readonly annotations?: Entries | undefined;
}

/** The label by which all etcd pods of the original are found. */
export const nameLabel = 'app.kubernetes.io/name';
/** The label that says of which cluster something is a part. */
export const clusterLabel = `${ownPrefix}cluster-name`;

const isOurs = (name: string): boolean => name.startsWith(ownPrefix);

const noReservedAnnotation: Rule<Metadata> = {
  cel: `!has(self.annotations) || self.annotations.all(name, !name.startsWith('${ownPrefix}'))`,
  says: "Annotation name is a reserved name ('etcd.improbable.io' prefix)", // the original's words
  holds: ({ annotations = {} }) => !Object.keys(annotations).some(isOurs),
};

const noReservedLabel: Rule<Metadata> = {
  cel: `!has(self.labels) || self.labels.all(name, name != '${nameLabel}' && !name.startsWith('${ownPrefix}'))`,
  says: `Label name is a reserved name ('${nameLabel}', or 'etcd.improbable.io' prefix)`,
  holds: ({ labels = {} }) => !Object.keys(labels).some((name) => name === nameLabel || isOurs(name)),
};

const metadata = ruled(
  z.object({
    annotations: ruled(table(text(8192), 30), properNames('annotation'))
      .optional()
      .describe(`Annotations added to the pods. Reserved: ${ownPrefix}*.`),
    labels: ruled(table(labelValue, 64), properNames('label'))
      .optional()
      .describe(`Labels added to the pods. Reserved: ${nameLabel} and ${ownPrefix}*.`),
  }),
  noReservedAnnotation,
  noReservedLabel,
);

const fields = z.object({
  metadata: metadata.optional().describe('Annotations and labels of the pods.'),
  resources: resources
    .optional()
    .describe('Requests and limits of the etcd container. A limit of CPU also sets GOMAXPROCS, to its whole cores.'),
  affinity: affinity
    .optional()
    .describe('Where members may run, in the words of a pod. Replaces the default: preferably apart.'),
  nodeSelector: nodeSelector.optional().describe('Labels of the nodes on which members may run.'),
  tolerations: z.array(toleration).max(64).optional().describe('Taints of nodes that members tolerate.'),
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  priorityClassName: priorityClassName.optional(),
  securityContext: podSecurityContext.optional().describe("The pods' security context."),
  serviceAccountName: serviceAccountName.optional(),
  imagePullSecrets: imagePullSecrets.optional(),
  etcdEnv: environment(noManagedSetting('spec.tls'))
    .optional()
    .describe('Environment of the etcd container, for settings of etcd that the operator does not manage itself.'),
});

export const podTemplate = ruled(
  fields,
  limitedTexts<z.output<typeof fields>>(
    {
      env: 'etcdEnv',
      annotations: 'metadata.annotations',
      hasAnnotations: 'has(self.metadata) && has(self.metadata.annotations)',
    },
    ({ etcdEnv, metadata: given }) => ({ etcdEnv, annotations: given?.annotations }),
  ),
);

export type PodTemplate = z.output<typeof podTemplate>;
