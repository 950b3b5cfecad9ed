import type { KubeClient } from '../kube/client.ts';
import type { Runnable } from '../runtime/manager.ts';
import type { NodeStreams } from './streams.ts';

/** An API server that the lab's nodes and controllers are clients of. */
export interface ControlPlane {
  /** The file that leads kubectl to it. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
  /** Where it listens on this machine. */
  readonly api: { readonly host: string; readonly port: number };
  /** Told once how to reach containers, for logs, exec and attach; nodes that are switched off cannot be reached. */
  readonly reach: (streamsOf: (nodeName: string) => NodeStreams | undefined) => void;
  /** Serves until told to stop. */
  readonly run: Runnable;
}
