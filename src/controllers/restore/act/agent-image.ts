import type { AgentImage } from '../../../core/manifests/agent-pod.ts';
import { Failure } from '../../../std/failure.ts';
import type { RestoreContext } from '../context.ts';

/** The image of agents. Throws if it is unknown: the plan waits then. */
export function imageOf({ image }: Pick<RestoreContext, 'image'>): AgentImage {
  if (typeof image === 'string') throw new Failure('unreachable', image);
  return image;
}
