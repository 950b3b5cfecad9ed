import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../../src/std/failure.ts';
import type { Lab } from '../lab.ts';

/** A request to a running lab: stop or start a node. */
export interface ControlRequest {
  readonly node: string;
  readonly power: 'on' | 'off';
}

const socketIn = (state: string): string => join(state, 'control.sock');

/** Serves control requests on a socket in the state directory, until disposed. */
export function serveControl(state: string, lab: Lab, onFailure: (failure: Failure) => void): Disposable {
  const path = socketIn(state);
  rmSync(path, { force: true });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    text(socket)
      .then((request) => handle(lab, JSON.parse(request) as ControlRequest))
      .catch((thrown: unknown) => Failure.from(thrown).message)
      .then((answer) => socket.end(answer))
      .catch(() => socket.destroy());
  });
  server.on('error', (error) =>
    onFailure(
      new Failure('rejected', `cannot open the control socket for lab power-on and power-off: ${error.message}`),
    ),
  );
  server.listen(path, () => chmodSync(path, 0o600));
  return { [Symbol.dispose]: () => server.close() };
}

/** Carries out a request; returns an error message, or an empty string. */
async function handle({ kubelets }: Lab, { node, power }: ControlRequest): Promise<string> {
  const kubelet = kubelets.find(({ name }) => name === node);
  if (kubelet === undefined)
    return `node "${node}" not found: the nodes are ${kubelets.map(({ name }) => name).join(', ')}`;
  if (power === 'off') await kubelet.powerOff();
  else kubelet.powerOn();
  return '';
}

/** Sends a request to a running lab; fails with the error of its reply. */
export async function sendControlRequest(state: string, request: ControlRequest): Promise<void> {
  const socket = connect(socketIn(state));
  socket.end(JSON.stringify(request));
  const answer = await text(socket).catch(() => `no lab is running in ${state}`);
  if (answer !== '') throw new Failure('rejected', answer);
}
