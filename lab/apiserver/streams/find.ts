import type { ContainerAddress, NodeStreams, PodAddress } from '../../streams.ts';
import type { RequestTarget } from '../http/paths.ts';
import { at, fieldsIn, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import { badRequest, StatusError } from '../status-error.ts';
import { find } from '../verbs/update.ts';

/** A container and the streams of its node. */
export interface FoundContainer {
  readonly container: ContainerAddress;
  readonly node: NodeStreams;
}

/** The container of a request. A pod with one container needs no container name. */
export function findContainer(state: ServerState, target: RequestTarget, query: URLSearchParams): FoundContainer {
  const { found, pod, node } = findPod(state, target);
  return { node, container: { ...pod, container: containerName(found, query.get('container')) } };
}

/** A pod and the streams of its node. */
export interface FoundPod {
  readonly found: KubeObject;
  readonly pod: PodAddress;
  readonly node: NodeStreams;
}

export function findPod(state: ServerState, target: RequestTarget): FoundPod {
  const type = state.types.find({ group: '', version: 'v1', plural: 'pods' });
  if (type === undefined) throw new Error('the server has no pods');
  const found = find({ state, type, target });
  const { namespace = '', name } = found.metadata;
  const nodeName = textOf(at(found, 'spec', 'nodeName'));
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`);
  const node = state.streamsOf(nodeName);
  if (node === undefined) throw unreachable(kubeletOf(state, nodeName), target);
  return { found, pod: { namespace, pod: name }, node };
}

function containerName(pod: KubeObject, wanted: string | null): string {
  const { name, annotations } = pod.metadata;
  const namesIn = (list: string): readonly string[] =>
    fieldsIn(at(pod, 'spec', list)).map((one) => textOf(one['name']));
  const containers = namesIn('containers');
  const all = [...containers, ...namesIn('initContainers')];
  const asked = wanted || annotations?.['kubectl.kubernetes.io/default-container'];
  if (asked === undefined && containers.length > 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
  const container = asked ?? containers[0] ?? '';
  if (!all.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
  return container;
}

/** The address of a node's kubelet, for errors. */
function kubeletOf({ store }: ServerState, name: string): string {
  const node = store.get({ collection: '/nodes', namespace: '', name });
  const inside = fieldsIn(at(node, 'status', 'addresses')).find(({ type }) => type === 'InternalIP');
  const port = numberOf(at(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port')) || 10_250;
  return `${textOf(inside?.['address']) || name}:${port}`;
}

function unreachable(kubelet: string, { namespace, name, subresource }: RequestTarget): StatusError {
  const asked =
    subresource === 'log'
      ? `Get "https://${kubelet}/containerLogs/${namespace}/${name}"`
      : `Internal error occurred: error sending request: Post "https://${kubelet}/${subresource}/${namespace}/${name}"`;
  return new StatusError(500, 'InternalError', {
    message: `${asked}: dial tcp ${kubelet}: connect: connection refused`,
  });
}
