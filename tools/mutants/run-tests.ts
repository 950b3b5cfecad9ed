import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { measured } from '../lib/measured.ts';
import type { Copy } from './copy.ts';

/** A failed test. Without a title the file could not be loaded. */
export interface FailedTest {
  readonly file: string;
  readonly title: string | undefined;
}

export interface TestRun {
  readonly failed: FailedTest | undefined;
  readonly cpuSeconds: number;
}

/** Tests that do not end within this time count as failed. */
const limitMillis = 900_000;

interface Report {
  readonly testResults?: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults?: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs test files in a copy until the first test fails. */
export async function runTests({ directory }: Copy, files: readonly string[]): Promise<TestRun> {
  const report = join(directory, 'test-results/mutant.json');
  await rm(report, { force: true });
  const once = ['--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const env = { FAST_CHECK_SEED: '1' };
  const terms = { cwd: directory, isQuiet: true, env, limitMillis };
  const { code, cpuSeconds, isOverdue } = await measured('vitest', ['run', '--project=unit', ...once, ...files], terms);
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const failed = firstFailed(JSON.parse(text) as Report, directory);
  if (failed !== undefined || (code === 0 && !isOverdue)) return { failed, cpuSeconds };
  return { failed: { file: files.join(' '), title: isOverdue ? 'the tests do not end' : undefined }, cpuSeconds };
}

function firstFailed({ testResults = [] }: Report, directory: string): FailedTest | undefined {
  const result = testResults.find(({ status }) => status === 'failed');
  if (result === undefined) return undefined;
  const title = result.assertionResults?.find(({ status }) => status === 'failed')?.fullName;
  return { file: relative(directory, result.name), title };
}
