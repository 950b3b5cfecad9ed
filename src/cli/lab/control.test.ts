import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../lab/lab.ts';
import { ask, serveControl } from './control.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'control-'));
});
afterEach(() => rmSync(state, { recursive: true }));

describe('a lab that is asked to pull a plug', () => {
  it('has done so when it answers, and names its nodes to who asks for another', async () => {
    let isOff = false;
    const powerOff = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      isOff = true;
    };
    const lab = { kubelets: [{ name: 'node1', powerOff }] } as unknown as Lab;
    using _control = serveControl(state, lab, () => undefined);
    await ask(state, { node: 'node1', power: 'off' });
    expect(isOff).toBe(true);
    await expect(ask(state, { node: 'nosuch', power: 'off' })).rejects.toThrow(
      'there is no nosuch: the nodes are node1',
    );
  });

  it('is missed where none runs', async () => {
    await expect(ask(state, { node: 'node1', power: 'off' })).rejects.toThrow(`no lab runs in ${state}`);
  });
});
