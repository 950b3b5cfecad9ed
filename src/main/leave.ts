import type { Failure } from '../std/failure.ts';

/**
 * Ends the process at once when leadership is lost, as other controllers do. What it has under way belongs to another operator
 * now. To end it in good order would send requests on connections that may be half dead: after a pause of the process, Node
 * was seen to loop for ever in HTTP/2 when it reset streams there.
 */
export function leaveAtOnce({ message }: Failure): void {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
