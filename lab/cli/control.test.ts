import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../lab.ts';
import { sendControlRequest, serveControl } from './control.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'control-'));
});
afterEach(() => rmSync(state, { recursive: true }));

describe('a control request', () => {
  it('is answered when the node has stopped; an unknown node is refused with a list of the nodes', async () => {
    let isOff = false;
    const powerOff = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      isOff = true;
    };
    const lab = { kubelets: [{ name: 'node1', powerOff }] } as unknown as Lab;
    using _control = serveControl(state, lab, () => undefined);
    await sendControlRequest(state, { node: 'node1', power: 'off' });
    expect(isOff).toBe(true);
    await expect(sendControlRequest(state, { node: 'nosuch', power: 'off' })).rejects.toThrow(
      'node "nosuch" not found: the nodes are node1',
    );
  });

  it('is refused if no lab is running', async () => {
    await expect(sendControlRequest(state, { node: 'node1', power: 'off' })).rejects.toThrow(
      `no lab is running in ${state}`,
    );
  });
});
