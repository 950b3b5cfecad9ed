import type { Pod, Stored } from '../../kube/object.ts';
import { withoutCredentials } from '../../std/redact.ts';
import { lastWords } from './last-words.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** Sources of variables that hold nothing of a Secret. Any other, also one that is not known yet, may. */
const openSources: ReadonlySet<string> = new Set(['fieldRef', 'resourceFieldRef', 'configMapKeyRef']);

const takesSecrets = ({ env = [], envFrom = [] }: Container): boolean =>
  env.some(({ valueFrom = {} }) => Object.keys(valueFrom).some((source) => !openSources.has(source))) ||
  envFrom.some(({ secretRef }) => secretRef !== undefined);

/**
 * True if a variable of the pod comes from a Secret. What a process prints may then hold its value, in any form. A status or
 * an Event is read by users who may not read Secrets, so nothing of its output is quoted there.
 */
export function hasSecretVariables({ spec }: Stored<Pod>): boolean {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(takesSecrets);
}

const notShown = ({ metadata }: Stored<Pod>, container: string): string =>
  `(output not shown, as the environment has values of Secrets: kubectl logs ${metadata.name} -c ${container} --previous)`;

/** What a container printed before it ended, as far as it may be shown. */
export const saidAtTheEnd = (pod: Stored<Pod>, container: string, message: string): string =>
  hasSecretVariables(pod) ? notShown(pod, container) : withoutCredentials(lastWords(message));

/** Reasons whose message is the kubelet's own. A container runtime quotes variables and arguments. */
const kubeletsOwn: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'ErrImagePull',
  'ErrImageNeverPull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
]);

type Waiting = NonNullable<NonNullable<ContainerStatus['state']>['waiting']>;

/** Why a container waits, as far as it may be shown. */
export function waitingMessage(pod: Stored<Pod>, container: string, waiting: Waiting): string | undefined {
  if (waiting.message === undefined) return undefined;
  const isSafe = kubeletsOwn.has(waiting.reason ?? '') || !hasSecretVariables(pod);
  return isSafe ? withoutCredentials(waiting.message) : notShown(pod, container);
}
