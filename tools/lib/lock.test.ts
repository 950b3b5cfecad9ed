import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lock } from './lock.ts';

describe('a lock', () => {
  const place = mkdtempSync(join(tmpdir(), 'lock-'));
  const path = join(place, 'lock');
  afterAll(() => rmSync(place, { recursive: true }));

  it('keeps a second one waiting, and says for whom, until it is given back', async () => {
    const order: string[] = [];
    const first = await lock(path, () => order.push('the first waits'));
    const second = lock(path, (holder) => order.push(`the second waits for ${holder}`)).then((held) => {
      order.push('the second has it');
      return held;
    });
    await expect.poll(() => order).toEqual([`the second waits for ${process.pid}`]);
    order.push('the first gives it back');
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(order.slice(1)).toEqual(['the first gives it back', 'the second has it']);
    expect(existsSync(path)).toBe(false);
  });

  it('is taken over from a process that is gone, also when its number is in use again', async () => {
    writeFileSync(path, `${process.pid} 1`); // our number, but another start
    using _held = await lock(path, () => expect.unreachable());
    expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d\\d+$`));
  });
});
