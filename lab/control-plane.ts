import type { KubeClient } from '../src/kube/client.ts';
import type { Runnable } from '../src/runtime/manager.ts';
import type { NodeStreams } from './streams.ts';

/** The API server whose clients are the lab's kubelets and controllers. */
export interface ControlPlane {
  /** The path of the kubeconfig for kubectl. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
  /** The host and port that the API server listens on. */
  readonly api: { readonly host: string; readonly port: number };
  /** Sets how the API server finds a node's streams for logs, exec and attach. A stopped node has none. */
  readonly setNodeStreams: (streamsOf: (nodeName: string) => NodeStreams | undefined) => void;
  /** Serves until the signal aborts. */
  readonly run: Runnable;
}
