import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
export const resultsDirectory = join(root, 'test-results');

/** How many checks ended well and how many did not. A suite in which nothing ran has failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** What failed, and the first words of why, to be told again at the end of a long run. */
  readonly failures?: readonly string[];
}

export const sum = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((total, { passed }) => total + passed, 0),
  failed: tallies.reduce((total, { failed }) => total + failed, 0),
  failures: tallies.flatMap(({ failures = [] }) => failures),
});

export const plainLine = ({ passed, failed }: Tally): string => `${passed} passed, ${failed} failed`;

export interface Suite {
  readonly projects: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Only tests whose title matches. */
  readonly title?: string;
}

/** Runs vitest projects, showing their output, and counts what they report. */
export async function runSuite({ projects, env = {}, title }: Suite): Promise<Tally> {
  const report = join(resultsDirectory, `${projects.join('-').replaceAll(' ', '-')}.json`);
  await mkdir(resultsDirectory, { recursive: true });
  await rm(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const filter = title === undefined ? [] : ['--testNamePattern', title];
  const args = ['run', ...projects.flatMap((name) => ['--project', name]), ...reporters, ...filter];
  const code = await show('vitest', args, env);
  return tallyOf(await readFile(report, 'utf8').catch(() => '{}'), code);
}

interface Report {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly testResults?: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults?: readonly TestResult[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/** What a vitest report says. No test at all, or a bad end with every test well, counts as one failure. */
export function tallyOf(report: string, code: number): Tally {
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, testResults = [] } = JSON.parse(report) as Report;
  const failures = testResults.filter(({ status }) => status === 'failed').flatMap(failuresIn);
  const unexplained = failed === 0 && (code !== 0 || passed === 0);
  return { passed, failed: unexplained ? 1 : failed, failures };
}

/** A file that could not even be loaded has no tests to blame. */
function failuresIn({ name, message = '', assertionResults = [] }: FileResult): readonly string[] {
  const file = relative(root, name);
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [`${file}: ${firstWords(message)}`];
  return failed.map(({ fullName, failureMessages = [] }) => `${file}: ${fullName}: ${firstWords(failureMessages[0])}`);
}

const longestReason = 300;

const firstWords = (message = ''): string => message.trimStart().split('\n', 1).join('').slice(0, longestReason);

/** A log file has no use for colours. */
const plain = process.stdout.isTTY ? {} : { NO_COLOR: '1' };

/** Runs a program with its output shown as it comes, and gives back how it ended. */
export async function show(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...plain, ...env },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 255;
}

/** A check that is one program: it passes or it fails. */
export const runOne = async (command: string, args: readonly string[]): Promise<Tally> =>
  (await show(command, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, failures: [command] };
