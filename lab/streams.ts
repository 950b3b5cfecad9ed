import type { Duplex, Readable, Writable } from 'node:stream';

/** The streams of a node that the API server uses for kubectl logs, exec, attach and port forwarding. */
export interface PodAddress {
  readonly namespace: string;
  readonly pod: string;
}

export interface ContainerAddress extends PodAddress {
  readonly container: string;
}

export interface LogRequest {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly tailLines?: number;
  readonly timestamps: boolean;
  readonly sinceTime?: string;
  readonly limitBytes?: number;
}

export interface Terminal {
  readonly stdin?: Readable;
  readonly stdout: Writable;
  readonly stderr?: Writable;
  readonly tty: boolean;
  readonly resizes?: AsyncIterable<{ width: number; height: number }>;
}

export interface NodeStreams {
  logs(container: ContainerAddress, request: LogRequest): Promise<Readable>;
  /** Resolves with the exit code. */
  exec(container: ContainerAddress, command: readonly string[], terminal: Terminal): Promise<number>;
  attach(container: ContainerAddress, terminal: Terminal): Promise<number>;
  /** Opens a connection to a port of a pod. */
  forward(pod: PodAddress, port: number): Promise<Duplex>;
}
