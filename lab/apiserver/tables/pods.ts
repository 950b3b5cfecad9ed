import { at, type Fields, fieldsIn, fieldsOf, listOf, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ageOf } from './duration.ts';

const statusesOf = (pod: KubeObject, which: string): readonly Fields[] => fieldsIn(at(pod, 'status', which));

export function podCells(pod: KubeObject): readonly unknown[] {
  const containers = statusesOf(pod, 'containerStatuses');
  const ready = containers.filter((status) => status['ready'] === true && isRunning(status)).length;
  const address = textOf(at(pod, 'status', 'podIP'));
  return [
    pod.metadata.name,
    `${ready}/${listOf(at(pod, 'spec', 'containers')).length}`,
    reasonOf(pod, containers),
    restartsOf(pod, containers),
    ageOf(pod.metadata.creationTimestamp),
    address || '<none>',
    textOf(at(pod, 'spec', 'nodeName')) || '<none>',
    textOf(at(pod, 'status', 'nominatedNodeName')) || '<none>',
    '<none>',
  ];
}

const isRunning = (status: Fields): boolean => at(status, 'state', 'running') !== undefined;

/** The STATUS column of a pod. */
function reasonOf(pod: KubeObject, containers: readonly Fields[]): string {
  const { phase, reason } = fieldsOf(pod['status']);
  const hasFinished = phase === 'Succeeded' || phase === 'Failed';
  if (pod.metadata.deletionTimestamp !== undefined && !hasFinished)
    return reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  return initialReason(pod) ?? runningReason(pod, containers);
}

function runningReason(pod: KubeObject, containers: readonly Fields[]): string {
  const { phase, reason } = fieldsOf(pod['status']);
  // The first container with a reason decides.
  const reasonText = containers.map(containerReason).find((one) => one !== '') ?? (textOf(reason) || textOf(phase));
  if (reasonText !== 'Completed' || !containers.some((status) => status['ready'] === true && isRunning(status)))
    return reasonText;
  const isReady = fieldsIn(at(pod, 'status', 'conditions')).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  return isReady ? 'Running' : 'NotReady';
}

function containerReason(status: Fields): string {
  const waiting = textOf(at(status, 'state', 'waiting', 'reason'));
  return waiting || endReason(at(status, 'state', 'terminated'));
}

/** The reason of a container's termination; empty if it has not terminated. */
function endReason(terminated: unknown): string {
  if (terminated === undefined) return '';
  const { reason, signal, exitCode } = fieldsOf(terminated);
  if (textOf(reason) !== '') return textOf(reason);
  return numberOf(signal) === 0 ? `ExitCode:${numberOf(exitCode)}` : `Signal:${numberOf(signal)}`;
}

/** The reason of the first unfinished init container. */
function initialReason(pod: KubeObject): string | undefined {
  const specs = fieldsIn(at(pod, 'spec', 'initContainers'));
  const sidecars = new Set(specs.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const statuses = statusesOf(pod, 'initContainerStatuses');
  const index = statuses.findIndex((status) => !isDone(status, sidecars.has(status['name'])));
  const status = statuses[index];
  if (status === undefined) return undefined;
  const ended = endReason(at(status, 'state', 'terminated'));
  const waiting = textOf(at(status, 'state', 'waiting', 'reason'));
  if (ended !== '') return `Init:${ended}`;
  if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
  return `Init:${index}/${specs.length}`;
}

const isDone = (status: Fields, isSidecar: boolean): boolean => {
  if (isSidecar && status['started'] === true) return true;
  const ended = at(status, 'state', 'terminated');
  return ended !== undefined && numberOf(at(ended, 'exitCode')) === 0;
};

function restartsOf(pod: KubeObject, containers: readonly Fields[]): string {
  const counted = initialReason(pod) === undefined ? containers : statusesOf(pod, 'initContainerStatuses');
  const restarts = counted.reduce((total, status) => total + numberOf(status['restartCount']), 0);
  const ends = counted.map((status) => textOf(at(status, 'lastState', 'terminated', 'finishedAt'))).filter(Boolean);
  const last = ends.sort().at(-1);
  return restarts === 0 || last === undefined ? String(restarts) : `${restarts} (${ageOf(last)} ago)`;
}
