import type { Passed } from '../model/template.ts';
import type { Manifest, OwnerReference } from './manifest.ts';
import { anyoneButRoot, nothingSpecial } from './security-context.ts';

/** Our own image, as the operator itself runs it. */
export interface AgentImage {
  readonly name: string;
  readonly pullPolicy?: string | undefined;
  readonly pullSecrets?: readonly Passed[] | undefined;
}

/** One call of an agent: `etcd-operator agent <words>`. */
export interface AgentCall {
  readonly name: string;
  readonly words: readonly string[];
  /** What it writes to a disk counts until the disk has it: one that writes much is held up by little. */
  readonly memoryLimit?: string;
}

/** What an agent needs to see, and where: a Secret or a volume of the resource's own namespace. */
export type AgentMount =
  /** `optional`: its pod outlives the Secret. */
  | { readonly path: string; readonly secret: string; readonly optional?: true }
  | { readonly path: string; readonly claim: string; readonly readOnly?: boolean };

export interface AgentJob {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Nobody's, where it works in another namespace than its resource is in. */
  readonly owner: OwnerReference | undefined;
  readonly image: AgentImage;
  /** One after the other; the first that fails ends them all. */
  readonly calls: readonly AgentCall[];
  readonly mounts: readonly AgentMount[];
  readonly deadlineSeconds: number;
  /** One that is to stand for a while gets up again when it falls. */
  readonly restarts?: true;
  readonly serviceAccountName: string | undefined;
}

/** Where agents find what is mounted for them. */
export const agentPaths = {
  storeSecret: '/etc/agent/store',
  etcdTls: '/etc/agent/etcd-tls',
  etcdUser: '/etc/agent/etcd-user',
  courier: '/etc/agent/courier',
  volume: '/var/lib/backups',
} as const;

/** Where agents tell how far they are. */
export const progressPort = 8080;
/** Where a courier is found by those for whom it reads. */
export const courierPort = 8443;

/** A pod that runs agents once. It has no token of the API server, and only the Secrets that its resource names. */
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
      securityContext: anyoneButRoot,
      ...(containers.length > 1 ? { initContainers: containers.slice(0, -1) } : {}),
      containers: containers.slice(-1),
      volumes: agentVolumes(job.mounts),
    },
  };
}

/** One agent as a container, in a pod of its own or before another container. */
export const agentContainer = (
  { name, words, memoryLimit = '512Mi' }: AgentCall,
  image: AgentImage,
  mounts: readonly AgentMount[],
): Passed => ({
  name,
  image: image.name,
  ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
  command: ['/usr/local/bin/etcd-operator', 'agent', ...words, '--result', '/dev/termination-log'],
  resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: memoryLimit } },
  securityContext: nothingSpecial,
  volumeMounts: mounts.map((mount, index) => ({
    name: `agent-${index}`,
    mountPath: mount.path,
    readOnly: 'secret' in mount || mount.readOnly === true,
  })),
});

export const agentVolumes = (mounts: readonly AgentMount[]): readonly Passed[] =>
  mounts.map((mount, index) => ({
    name: `agent-${index}`,
    ...('secret' in mount
      ? { secret: { secretName: mount.secret, defaultMode: 0o440, ...(mount.optional ? { optional: true } : {}) } }
      : { persistentVolumeClaim: { claimName: mount.claim, readOnly: mount.readOnly === true } }),
  }));
