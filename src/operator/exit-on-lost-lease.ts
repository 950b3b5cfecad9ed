import type { Failure } from '../std/failure.ts';

/**
 * Exits at once when leadership is lost, as other controllers do: another operator leads now. An orderly shutdown would
 * send requests on connections that may be half-dead. After a pause of the process, Node can loop forever when it
 * resets HTTP/2 streams on such connections.
 */
export function exitOnLostLease({ message }: Failure): void {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
