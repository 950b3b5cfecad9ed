import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { measured } from './measured.ts';

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
  /** After this time the suite is ended, and counts as failed. */
  readonly limitMillis?: number;
  /** Other options of vitest. */
  readonly options?: readonly string[];
  /** What its report is called, where the names of its projects do not tell it from another run. */
  readonly report?: string;
}

/** A suite that fails this often is not run to its end. */
const failuresEnough = 5;

/** The tally of a suite, and what it cost: seconds on the wall, and processor seconds of its whole process tree. */
export interface SuiteResult extends Tally {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** Runs vitest projects, showing their output, and counts what they report. */
export async function runSuite(suite: Suite): Promise<SuiteResult> {
  const { projects, env = {}, title, options = [], limitMillis } = suite;
  const report = reportOf(suite);
  await mkdir(resultsDirectory, { recursive: true });
  await rm(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const filter = title === undefined ? [] : ['--testNamePattern', title];
  const chosen = projects.flatMap((name) => ['--project', name]);
  const args = ['run', ...chosen, ...reporters, `--bail=${failuresEnough}`, ...filter, ...options];
  const ended = await measured('vitest', args, { env, ...(limitMillis === undefined ? {} : { limitMillis }) });
  const tally = tallyOf(await readFile(report, 'utf8').catch(() => '{}'), ended.code);
  const { cpuSeconds, wallSeconds } = ended;
  if (!ended.isOverdue) return { ...tally, cpuSeconds, wallSeconds };
  const late = `${projects.join(', ')}: ended after its limit of ${Math.round((limitMillis ?? 0) / 1000)} s`;
  return { ...sum([tally, { passed: 0, failed: 1, failures: [late] }]), cpuSeconds, wallSeconds };
}

/** Where the report of a suite is. */
export const reportOf = ({ projects, report }: Pick<Suite, 'projects' | 'report'>): string =>
  join(resultsDirectory, `${report ?? projects.join('-').replaceAll(' ', '-')}.json`);

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

/** A check that is one program: it passes or it fails. */
export async function runOne(command: string, args: readonly string[]): Promise<SuiteResult> {
  const { code, cpuSeconds, wallSeconds } = await measured(command, args);
  const tally = code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, failures: [command] };
  return { ...tally, cpuSeconds, wallSeconds };
}
