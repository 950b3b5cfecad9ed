import { describe, expect, it } from 'vitest';
import { measured } from './measured.ts';

const shell = (script: string, limitMillis?: number) =>
  measured('sh', ['-c', script], limitMillis === undefined ? {} : { limitMillis });

describe('a measured program', () => {
  it('returns its exit code and CPU time', async () => {
    const script = `"${process.execPath}" -e 'const end = process.cpuUsage().user + 200000; while (process.cpuUsage().user < end);'; exit 3`;
    const { code, cpuSeconds, isOverdue } = await shell(script);
    expect({ code, isOverdue }).toEqual({ code: 3, isOverdue: false });
    expect(cpuSeconds).toBeGreaterThan(0.15);
  });

  it('is killed at its time limit, with all its children', async () => {
    const { isOverdue, wallSeconds } = await shell('sleep 300 & sleep 300; wait', 200);
    expect(isOverdue).toBe(true);
    expect(wallSeconds).toBeLessThan(60);
  });
});
