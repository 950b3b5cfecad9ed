import type { Pod, Stored } from '../../kube/object.ts';
import { withoutCredentials } from '../../std/redact.ts';
import { terminationMessage } from './termination-message.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** Sources of variables that hold no Secret. Any other source may hold a Secret, also an unknown one. */
const publicSources: ReadonlySet<string> = new Set(['fieldRef', 'resourceFieldRef', 'configMapKeyRef']);

const takesSecrets = ({ env = [], envFrom = [] }: Container): boolean =>
  env.some(({ valueFrom = {} }) => Object.keys(valueFrom).some((source) => !publicSources.has(source))) ||
  envFrom.some(({ secretRef }) => secretRef !== undefined);

/**
 * True if a variable of the pod comes from a Secret. The output of a process may then contain its value. A status or an
 * Event is visible to users without access to Secrets, so the output is not quoted there.
 */
export function hasSecretVariables({ spec }: Stored<Pod>): boolean {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(takesSecrets);
}

const notShown = ({ metadata }: Stored<Pod>, container: string): string =>
  `(output not shown, because the environment has values of Secrets: kubectl logs ${metadata.name} -c ${container} --previous)`;

/** The last output of a container, unless it may contain a Secret. */
export const terminationOutput = (pod: Stored<Pod>, container: string, message: string): string =>
  hasSecretVariables(pod) ? notShown(pod, container) : withoutCredentials(terminationMessage(message));

/** Waiting reasons with a message of the kubelet. Messages of a container runtime may quote variables and arguments. */
const kubeletReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'ErrImagePull',
  'ErrImageNeverPull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
]);

type Waiting = NonNullable<NonNullable<ContainerStatus['state']>['waiting']>;

/** The message of a waiting container, unless it may contain a Secret. */
export function waitingMessage(pod: Stored<Pod>, container: string, waiting: Waiting): string | undefined {
  if (waiting.message === undefined) return undefined;
  const isSafe = kubeletReasons.has(waiting.reason ?? '') || !hasSecretVariables(pod);
  return isSafe ? withoutCredentials(waiting.message) : notShown(pod, container);
}
