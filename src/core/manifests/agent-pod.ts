import type { ManifestPart } from '../cluster/model/template.ts';
import type { Manifest, OwnerReference } from './manifest.ts';
import { nonRootSecurityContext, restrictedSecurityContext } from './security-context.ts';

/** The image of the operator itself. */
export interface AgentImage {
  readonly name: string;
  readonly pullPolicy?: string | undefined;
  readonly pullSecrets?: readonly ManifestPart[] | undefined;
}

/** One call of an agent: `etcd-operator agent <args>`. */
export interface AgentCall {
  readonly name: string;
  readonly args: readonly string[];
  /** Unwritten pages of a volume count as memory: an agent that writes much needs a higher limit to stay fast. */
  readonly memoryLimit?: string;
}

/** A mount of an agent: a Secret or a PVC in the namespace of the pod. */
export type AgentMount =
  /** `optional`: the pod may outlive the Secret. */
  | { readonly path: string; readonly secret: string; readonly optional?: true }
  | { readonly path: string; readonly claim: string; readonly readOnly?: boolean };

export interface AgentJob {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Undefined if the pod runs in another namespace than its resource. */
  readonly owner: OwnerReference | undefined;
  readonly image: AgentImage;
  /** Run one after the other; the first failure ends the pod. */
  readonly calls: readonly AgentCall[];
  readonly mounts: readonly AgentMount[];
  readonly deadlineSeconds: number;
  /** Long-running agents restart after a failure (`restartPolicy: OnFailure`). */
  readonly restarts?: true;
  readonly serviceAccountName: string | undefined;
}

/** Mount paths in agent pods. */
export const agentPaths = {
  storeSecret: '/etc/agent/store',
  etcdTls: '/etc/agent/etcd-tls',
  etcdUser: '/etc/agent/etcd-user',
  storeProxy: '/etc/agent/store-proxy',
  volume: '/var/lib/backups',
} as const;

/** The port on which agents report their progress. */
export const progressPort = 8080;
/** The port of a store proxy. */
export const storeProxyPort = 8443;

/** The pod of a job. It has no API token, and mounts only the Secrets that its resource names. */
export function agentPod(job: AgentJob): Manifest {
  const { name, namespace, labels, annotations, owner, image } = job;
  const containers = job.calls.map((call) => agentContainer(call, image, job.mounts));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, annotations, ownerReferences: owner === undefined ? [] : [owner] },
    spec: {
      restartPolicy: job.restarts === true ? 'OnFailure' : 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      activeDeadlineSeconds: job.deadlineSeconds,
      terminationGracePeriodSeconds: 10,
      ...(job.serviceAccountName === undefined ? {} : { serviceAccountName: job.serviceAccountName }),
      ...(image.pullSecrets === undefined ? {} : { imagePullSecrets: image.pullSecrets }),
      securityContext: nonRootSecurityContext,
      ...(containers.length > 1 ? { initContainers: containers.slice(0, -1) } : {}),
      containers: containers.slice(-1),
      volumes: agentVolumes(job.mounts),
    },
  };
}

/** The container of one agent, in an agent pod or as an init container of the seed. */
export const agentContainer = (
  { name, args, memoryLimit = '512Mi' }: AgentCall,
  image: AgentImage,
  mounts: readonly AgentMount[],
): ManifestPart => ({
  name,
  image: image.name,
  ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
  command: ['/usr/local/bin/etcd-operator', 'agent', ...args, '--result', '/dev/termination-log'],
  resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: memoryLimit } },
  securityContext: restrictedSecurityContext,
  volumeMounts: mounts.map((mount, index) => ({
    name: `agent-${index}`,
    mountPath: mount.path,
    readOnly: 'secret' in mount || mount.readOnly === true,
  })),
});

export const agentVolumes = (mounts: readonly AgentMount[]): readonly ManifestPart[] =>
  mounts.map((mount, index) => ({
    name: `agent-${index}`,
    ...('secret' in mount
      ? { secret: { secretName: mount.secret, defaultMode: 0o440, ...(mount.optional ? { optional: true } : {}) } }
      : { persistentVolumeClaim: { claimName: mount.claim, readOnly: mount.readOnly === true } }),
  }));
