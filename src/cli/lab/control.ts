import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Lab } from '../../lab/lab.ts';
import { Failure } from '../../std/failure.ts';

/** What somebody may ask of a lab that runs. */
export interface Wish {
  readonly node: string;
  readonly power: 'on' | 'off';
}

const socketIn = (state: string): string => join(state, 'control.sock');

/** Listens for wishes, until disposed. */
export function serveControl(state: string, lab: Lab, onTrouble: (failure: Failure) => void): Disposable {
  const path = socketIn(state);
  rmSync(path, { force: true });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    text(socket)
      .then((wish) => grant(lab, JSON.parse(wish) as Wish))
      .catch((thrown: unknown) => Failure.from(thrown).message)
      .then((answer) => socket.end(answer))
      .catch(() => socket.destroy());
  });
  server.on('error', (error) =>
    onTrouble(new Failure('rejected', `nobody can ask this lab for anything: ${error.message}`)),
  );
  server.listen(path, () => chmodSync(path, 0o600));
  return { [Symbol.dispose]: () => server.close() };
}

/** Answers with what is wrong, or with nothing. */
async function grant({ kubelets }: Lab, { node, power }: Wish): Promise<string> {
  const kubelet = kubelets.find(({ name }) => name === node);
  if (kubelet === undefined) return `there is no ${node}: the nodes are ${kubelets.map(({ name }) => name).join(', ')}`;
  if (power === 'off') await kubelet.powerOff();
  else kubelet.powerOn();
  return '';
}

/** Asks a running lab; what it refuses is a Failure. */
export async function ask(state: string, wish: Wish): Promise<void> {
  const socket = connect(socketIn(state));
  socket.end(JSON.stringify(wish));
  const answer = await text(socket).catch(() => `no lab runs in ${state}`);
  if (answer !== '') throw new Failure('rejected', answer);
}
