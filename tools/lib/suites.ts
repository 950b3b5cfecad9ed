import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { measured } from './measured.ts';
import { otherFailuresVariable } from './other-failures.ts';

const root = join(import.meta.dirname, '../..');
export const resultsDirectory = join(root, 'test-results');
const otherFailures = join(import.meta.dirname, 'other-failures.ts');

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
  const others = report.replace(/json$/, 'others.json');
  await rm(others, { force: true });
  const reporters = ['default', 'json', otherFailures].map((name) => `--reporter=${name}`);
  const filter = title === undefined ? [] : ['--testNamePattern', title];
  const chosen = projects.flatMap((name) => ['--project', name]);
  const written = `--outputFile.json=${report}`;
  const args = ['run', ...chosen, ...reporters, written, `--bail=${failuresEnough}`, ...filter, ...options];
  const ended = await measured('vitest', args, {
    env: { ...env, [otherFailuresVariable]: others },
    ...(limitMillis === undefined ? {} : { limitMillis }),
  });
  const tally = tallyOf(await textOf(report, '{}'), ended.code, JSON.parse(await textOf(others, '[]')) as string[]);
  const { cpuSeconds, wallSeconds } = ended;
  if (!ended.isOverdue) return { ...tally, cpuSeconds, wallSeconds };
  const late = lateBy(projects.join(', '), limitMillis);
  return { ...sum([tally, { passed: 0, failed: 1, failures: [late] }]), cpuSeconds, wallSeconds };
}

const textOf = (file: string, otherwise: string): Promise<string> => readFile(file, 'utf8').catch(() => otherwise);

const lateBy = (name: string, limitMillis = 0): string =>
  `${name}: ended after its limit of ${Math.round(limitMillis / 1000)} s`;

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

/**
 * What a vitest report says, and what it leaves out. A failed file without a failed test counts as one failure. No test at all,
 * or a bad end that nothing explains, counts as one too.
 */
export function tallyOf(report: string, code: number, others: readonly string[] = []): Tally {
  const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [] } = JSON.parse(report) as Report;
  const files = testResults.filter(({ status }) => status === 'failed');
  const explained = numFailedTests + files.filter((file) => failedTests(file).length === 0).length + others.length;
  const failures = [...files.flatMap(failuresIn), ...others.map(firstWords)];
  return explained > 0 ? { passed, failed: explained, failures } : unexplained(passed, code);
}

function unexplained(passed: number, code: number): Tally {
  if (passed === 0) return { passed, failed: 1, failures: ['no test ran'] };
  return code === 0
    ? { passed, failed: 0, failures: [] }
    : { passed, failed: 1, failures: [`all tests passed, but vitest ended with ${code}`] };
}

const failedTests = ({ assertionResults = [] }: FileResult): readonly TestResult[] =>
  assertionResults.filter(({ status }) => status === 'failed');

/** A file that could not even be loaded has no tests to blame. */
function failuresIn(result: FileResult): readonly string[] {
  const [file, failed] = [relative(root, result.name), failedTests(result)];
  if (failed.length === 0) return [`${file}: ${firstWords(result.message)}`];
  return failed.map(({ fullName, failureMessages = [] }) => `${file}: ${fullName}: ${firstWords(failureMessages[0])}`);
}

const longestReason = 300;

const firstWords = (message = ''): string => message.trimStart().split('\n', 1).join('').slice(0, longestReason);

/** A check that is one program: it passes or it fails. After its limit it is ended, and has failed. */
export async function runOne(command: string, args: readonly string[], limitMillis: number): Promise<SuiteResult> {
  const { code, cpuSeconds, wallSeconds, isOverdue } = await measured(command, args, { limitMillis });
  if (code === 0 && !isOverdue) return { passed: 1, failed: 0, cpuSeconds, wallSeconds };
  const failure = isOverdue ? lateBy(command, limitMillis) : command;
  return { passed: 0, failed: 1, failures: [failure], cpuSeconds, wallSeconds };
}
