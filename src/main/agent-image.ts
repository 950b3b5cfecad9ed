import type { AgentImage } from '../core/desired/agent-pod.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Pod } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';
import { untilAnswered } from './until-answered.ts';

const remedy = 'start the operator with --agent-image, and its own image as the value';

export interface Looking {
  readonly client: Pick<KubeClient, 'get'>;
  readonly settings: Pick<Settings, 'agentImages' | 'podName' | 'podNamespace'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The image that agents run: the operator's own, as its pod says; outside the cluster somebody has to name it. An unreachable API
 * server is asked again; undefined if `signal` aborted before it answered.
 */
export async function agentImage(
  agent: keyof Settings['agentImages'],
  { client, settings: { agentImages, podName: name, podNamespace: namespace }, clock, log }: Looking,
  signal: AbortSignal,
): Promise<AgentImage | string | undefined> {
  const given = agentImages[agent];
  if (given !== undefined) return { name: given };
  if (name === undefined || namespace === undefined)
    return `the operator does not run in a pod and so knows no image for agents: ${remedy}`;
  const onTrouble = ({ message: failure }: Failure): void =>
    log.warn({ agent, failure }, 'cannot look up the image of the operator: agents wait for it');
  const ask = (): Promise<Pod> => client.get(pods, { namespace, name }, { timeoutSeconds: 10, signal });
  try {
    const pod = await untilAnswered(ask, { clock, onTrouble }, signal);
    return pod && imageIn(pod);
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.kind === 'bug') throw thrown;
    return `the operator cannot look up its own image (${failure.message}): ${remedy}`;
  }
}

/** There may be other containers beside the operator's. */
function imageIn({ spec }: Pod): AgentImage | string {
  const { containers = [], imagePullSecrets: pullSecrets } = spec ?? {};
  const own = containers.find(({ name }) => name.startsWith('etcd-')) ?? containers[0];
  if (own?.image === undefined) return `the operator's own pod names no image: ${remedy}`;
  return { name: own.image, pullPolicy: own.imagePullPolicy, pullSecrets };
}
