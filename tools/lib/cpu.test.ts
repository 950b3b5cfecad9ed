import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { childrenSeconds, sumOfTrees, timesIn, treeSeconds } from './cpu.ts';

const busy = 'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end);';

describe('CPU time', () => {
  it('of reaped children is parsed from the output of `times`', () => {
    expect(childrenSeconds('0m0.01s 0m0.02s\n1m2.50s 0m0.25s\n')).toBeCloseTo(62.75);
    expect(childrenSeconds('')).toBe(0);
  });

  it('of a grandchild is in the output of `times`', () => {
    const script = `sh -c '"$1" -e "$2"; true' sh "$@"; times`;
    const { stdout } = spawnSync('sh', ['-c', script, 'sh', process.execPath, busy]);
    expect(childrenSeconds(stdout.toString())).toBeGreaterThan(0.25);
  });

  it('is parsed from /proc, whatever the program name', () => {
    const stat = '7 (a) b) c) S 3 7 7 0 -1 4194560 1 2 3 4 100 50 20 30 20 0 1 0 12345 0 0';
    expect(timesIn(stat)).toEqual({ parent: 3, seconds: 2 });
  });

  it('of a tree includes the root and its descendants, and no other process', () => {
    const all = new Map([
      [1, { parent: 0, seconds: 100 }],
      [10, { parent: 1, seconds: 1 }],
      [11, { parent: 10, seconds: 2 }],
      [12, { parent: 11, seconds: 3 }],
      [20, { parent: 1, seconds: 50 }],
    ]);
    expect(sumOfTrees(all, new Set([10]))).toBe(6);
  });

  it('of this process is positive', () => {
    expect(treeSeconds([process.pid])).toBeGreaterThan(0);
  });
});
