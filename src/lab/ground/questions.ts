/** What the lab asks of the switchboard: a socket inside the namespaces. */
export interface Question {
  readonly id: number;
  readonly ask: 'dial' | 'listen' | 'bind';
  readonly host: string;
  readonly port: number;
}

/** Comes with the socket, unless it was refused. */
export interface Answer {
  readonly id: number;
  readonly refused?: string;
}
