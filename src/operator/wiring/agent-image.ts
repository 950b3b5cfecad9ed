import type { AgentImage } from '../../core/manifests/agent-pod.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Pod } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Failure } from '../../std/failure.ts';
import type { Settings } from '../settings.ts';
import type { Log } from '../telemetry/log.ts';
import { untilAnswered } from '../until-answered.ts';

const remedy = 'set --agent-image to the image of the operator';

export interface ImageLookup {
  readonly client: Pick<KubeClient, 'get'>;
  readonly settings: Pick<Settings, 'agentImages' | 'podName' | 'podNamespace'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The image of agents: from the flags, or from the operator's own pod. Outside a pod the flag is required. Retries while
 * the API server is unreachable; undefined if `signal` aborts before an answer.
 */
export async function agentImage(
  agent: keyof Settings['agentImages'],
  { client, settings: { agentImages, podName: name, podNamespace: namespace }, clock, log }: ImageLookup,
  signal: AbortSignal,
): Promise<AgentImage | string | undefined> {
  const given = agentImages[agent];
  if (given !== undefined) return { name: given };
  if (name === undefined || namespace === undefined)
    return `the agent image is unknown, because the operator does not run in a pod: ${remedy}`;
  const onFailure = ({ message: failure }: Failure): void =>
    log.warn({ agent, failure }, "cannot read the operator's pod for the agent image: retrying");
  const readPod = (): Promise<Pod> => client.get(pods, { namespace, name }, { timeoutSeconds: 10, signal });
  try {
    const pod = await untilAnswered(readPod, { clock, onFailure }, signal);
    return pod && imageIn(pod);
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.kind === 'bug') throw thrown;
    return `the agent image is unknown, because the operator's pod cannot be read (${failure.message}): ${remedy}`;
  }
}

/** The image of the operator's container. The pod may have other containers. */
function imageIn({ spec }: Pod): AgentImage | string {
  const { containers = [], imagePullSecrets: pullSecrets } = spec ?? {};
  const own = containers.find(({ name }) => name.startsWith('etcd-')) ?? containers[0];
  if (own?.image === undefined) return `the agent image is unknown, because the operator's pod has no image: ${remedy}`;
  return { name: own.image, pullPolicy: own.imagePullPolicy, pullSecrets };
}
