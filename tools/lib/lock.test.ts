import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lock } from './lock.ts';

describe('a lock', () => {
  const place = mkdtempSync(join(tmpdir(), 'lock-'));
  const path = join(place, 'lock');
  afterAll(() => rmSync(place, { recursive: true }));

  it('blocks a second holder until its release, and names the first', async () => {
    const order: string[] = [];
    const first = await lock(path, () => order.push('the first waits'));
    const second = lock(path, (holder) => order.push(`the second waits for ${holder}`)).then((held) => {
      order.push('the second holds');
      return held;
    });
    await expect.poll(() => order).toEqual([`the second waits for ${process.pid}`]);
    order.push('the first releases');
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(order.slice(1)).toEqual(['the first releases', 'the second holds']);
    expect(existsSync(path)).toBe(false);
  });

  it('of a dead process is free, also if its PID is in use again', async () => {
    writeFileSync(path, `${process.pid} 1`); // our PID with another start time
    using _held = await lock(path, () => expect.unreachable());
    expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d\\d+$`));
  });
});
