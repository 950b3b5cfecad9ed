import { describe, expect, it } from 'vitest';
import { measured } from './measured.ts';

const shell = (script: string, limitMillis?: number) =>
  measured('sh', ['-c', script], limitMillis === undefined ? {} : { limitMillis });

describe('a measured program', () => {
  it('ends with its own code, and its processor time is known', async () => {
    const script = `"${process.execPath}" -e 'const end = process.cpuUsage().user + 200000; while (process.cpuUsage().user < end);'; exit 3`;
    const { code, cpuSeconds, isOverdue } = await shell(script);
    expect({ code, isOverdue }).toEqual({ code: 3, isOverdue: false });
    expect(cpuSeconds).toBeGreaterThan(0.15);
  });

  it('is ended when its time is up, with all that it has started', async () => {
    const { isOverdue, wallSeconds } = await shell('sleep 300 & sleep 300; wait', 200);
    expect(isOverdue).toBe(true);
    expect(wallSeconds).toBeLessThan(60);
  });
});
