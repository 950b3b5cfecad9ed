import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { measured } from './measured.ts';
import { otherFailuresVariable } from './other-failures.ts';

const root = join(import.meta.dirname, '../..');
export const resultsDirectory = join(root, 'test-results');
const otherFailures = join(import.meta.dirname, 'other-failures.ts');

/** The number of passed and failed checks. A suite without any test has failed. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** The failed tests with the first line of their errors, for the report at the end of a run. */
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
  /** Runs only tests with a matching title. */
  readonly title?: string;
  /** The time limit. A suite killed at its limit counts as failed. */
  readonly limitMillis?: number;
  /** Further options of vitest. */
  readonly options?: readonly string[];
  /** The name of the report. Default: the names of the projects. */
  readonly report?: string;
}

/** A suite stops after this many failures. */
export const bailAfter = 5;

/** The tally of a suite, its wall-clock time, and the CPU time of its process tree. */
export interface SuiteResult extends Tally {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** The result of suites that ran one after the other. */
export const sumWithTimes = (results: readonly SuiteResult[]): SuiteResult => ({
  ...sum(results),
  wallSeconds: results.reduce((total, { wallSeconds }) => total + wallSeconds, 0),
  cpuSeconds: results.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0),
});

/** Runs vitest projects, prints their output and counts the results. */
export async function runSuite(suite: Suite): Promise<SuiteResult> {
  const { projects, env = {}, title, options = [], limitMillis } = suite;
  const report = reportOf(suite);
  await mkdir(resultsDirectory, { recursive: true });
  await rm(report, { force: true });
  const others = report.replace(/json$/, 'others.json');
  await rm(others, { force: true });
  const reporters = ['default', 'json', otherFailures].map((name) => `--reporter=${name}`);
  const filter = title === undefined ? [] : ['--testNamePattern', title];
  const chosen = projects.flatMap((name) => ['--project', name]);
  const written = `--outputFile.json=${report}`;
  const args = ['run', ...chosen, ...reporters, written, `--bail=${bailAfter}`, ...filter, ...options];
  const ended = await measured('vitest', args, {
    env: { ...env, [otherFailuresVariable]: others },
    ...(limitMillis === undefined ? {} : { limitMillis }),
  });
  const tally = tallyOf(await textOf(report, '{}'), ended.code, JSON.parse(await textOf(others, '[]')) as string[]);
  const { cpuSeconds, wallSeconds } = ended;
  if (!ended.isOverdue) return { ...tally, cpuSeconds, wallSeconds };
  const late = overdueMessage(projects.join(', '), limitMillis);
  return { ...sum([tally, { passed: 0, failed: 1, failures: [late] }]), cpuSeconds, wallSeconds };
}

const textOf = (file: string, otherwise: string): Promise<string> => readFile(file, 'utf8').catch(() => otherwise);

const overdueMessage = (name: string, limitMillis = 0): string =>
  `${name}: killed at its limit of ${Math.round(limitMillis / 1000)} s`;

/** The path of a suite's report. */
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

/**
 * Counts the tests of a vitest report, and the failures that it omits. A failed file without a failed test counts as
 * one failure. A run without tests, or with an unexplained exit code, counts as one failure too.
 */
export function tallyOf(report: string, code: number, others: readonly string[] = []): Tally {
  const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [] } = JSON.parse(report) as Report;
  const files = testResults.filter(({ status }) => status === 'failed');
  const explained = numFailedTests + files.filter((file) => failedTests(file).length === 0).length + others.length;
  const failures = [...files.flatMap(failuresIn), ...others.map(firstLine)];
  return explained > 0 ? { passed, failed: explained, failures } : unexplained(passed, code);
}

function unexplained(passed: number, code: number): Tally {
  if (passed === 0) return { passed, failed: 1, failures: ['no test ran'] };
  return code === 0
    ? { passed, failed: 0, failures: [] }
    : { passed, failed: 1, failures: [`all tests passed, but vitest exited with ${code}`] };
}

const failedTests = ({ assertionResults = [] }: FileResult): readonly TestResult[] =>
  assertionResults.filter(({ status }) => status === 'failed');

/** The failures of a file. A file that failed to load has no failed tests, only a message. */
function failuresIn(result: FileResult): readonly string[] {
  const [file, failed] = [relative(root, result.name), failedTests(result)];
  if (failed.length === 0) return [`${file}: ${firstLine(result.message)}`];
  return failed.map(({ fullName, failureMessages = [] }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`);
}

const longestReason = 300;

const firstLine = (message = ''): string => message.trimStart().split('\n', 1).join('').slice(0, longestReason);

/** Runs one program as a check. It fails by a non-zero exit code or at its time limit. */
export async function runOne(command: string, args: readonly string[], limitMillis: number): Promise<SuiteResult> {
  const { code, cpuSeconds, wallSeconds, isOverdue } = await measured(command, args, { limitMillis });
  if (code === 0 && !isOverdue) return { passed: 1, failed: 0, cpuSeconds, wallSeconds };
  const failure = isOverdue ? overdueMessage(command, limitMillis) : [command, ...args].join(' ');
  return { passed: 0, failed: 1, failures: [failure], cpuSeconds, wallSeconds };
}
