import type { AgentImage } from '../core/desired/agent-pod.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Pod } from '../kube/object.ts';
import { pods } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';
import type { Settings } from './settings.ts';

const remedy = 'start the operator with --agent-image, and its own image as the value';

/** The image that agents run: the operator's own, as its pod says; outside the cluster somebody has to name it. */
export async function agentImage(
  agent: keyof Settings['agentImages'],
  { agentImages, podName, podNamespace }: Pick<Settings, 'agentImages' | 'podName' | 'podNamespace'>,
  client: Pick<KubeClient, 'get'>,
): Promise<AgentImage | string> {
  const given = agentImages[agent];
  if (given !== undefined) return { name: given };
  if (podName === undefined || podNamespace === undefined)
    return `the operator does not run in a pod and so knows no image for agents: ${remedy}`;
  try {
    return imageIn(await client.get(pods, { namespace: podNamespace, name: podName }, { timeoutSeconds: 10 }));
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
