/** A request to the socket broker for a socket in the sandbox's network. */
export interface SocketRequest {
  readonly id: number;
  readonly operation: 'dial' | 'listen' | 'bind';
  readonly host: string;
  readonly port: number;
}

/** The reply to a request. Without an error, the socket comes with it. */
export interface SocketReply {
  readonly id: number;
  readonly error?: string;
}
