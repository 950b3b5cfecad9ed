import { writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ending } from '../../test/support/story-turns.ts';
import { slowness } from '../lib/cpu.ts';
import { plainLine, resultsDirectory, type SuiteResult, sum, type Tally } from '../lib/suites.ts';
import { overBudget } from './budgets.ts';
import type { Pair } from './choose.ts';
import { type Line, lineOf, runReport } from './report.ts';
import type { StoriesResult } from './run-stories.ts';

/** A red gate: the rest of the run is skipped. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** The result of a suite. */
export interface Verdict extends Tally {
  readonly isWithinBudget: boolean;
}

interface Terms {
  readonly isBudgeted: boolean;
  /** The slowness of this machine against the reference. Default: measured. */
  readonly slowness?: number;
  /** The directory of the tally file. */
  readonly directory?: string;
  readonly print?: (text: string) => void;
}

const toStdout = (text: string): void => void process.stdout.write(text);

/** One run of a tier: the results and costs of its suites, and the report. */
export class Run {
  readonly #began = performance.now();
  readonly #slowness: number;
  readonly #directory: string;
  readonly #print: (text: string) => void;
  readonly #lines: Line[] = [];
  readonly #tallies: Tally[] = [];
  readonly #skipped: string[] = [];
  readonly endings: Ending[] = [];
  readonly flakes: string[] = [];
  readonly #leftOut: Pair[] = [];
  readonly isBudgeted: boolean;

  constructor({ isBudgeted, slowness: given = slowness(), directory = resultsDirectory, print = toStdout }: Terms) {
    this.isBudgeted = isBudgeted;
    this.#slowness = given;
    this.#directory = directory;
    this.#print = print;
  }

  static async begin(terms: Terms): Promise<Run> {
    await rm(resultsDirectory, { recursive: true, force: true });
    await mkdir(resultsDirectory, { recursive: true });
    return new Run(terms);
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  get lines(): readonly Line[] {
    return this.#lines;
  }

  get slowness(): number {
    return this.#slowness;
  }

  get tally(): Tally {
    return sum(this.#tallies);
  }

  get isGreen(): boolean {
    return this.tally.failed === 0 && this.tally.passed > 0;
  }

  /** Runs one suite. An error counts as a failure; the other suites still run. */
  async suite(name: string, work: () => Promise<SuiteResult | StoriesResult>): Promise<Verdict> {
    this.#print(`\n── ${name}\n`);
    const began = performance.now();
    const result = await work().catch((error: unknown): SuiteResult => {
      const failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      return {
        passed: 0,
        failed: 1,
        failures: [failure],
        cpuSeconds: 0,
        wallSeconds: (performance.now() - began) / 1000,
      };
    });
    return this.#note(name, result);
  }

  /** Runs one suite as a gate: if it is red, the rest of the run is skipped. */
  async gate(name: string, work: () => Promise<SuiteResult | StoriesResult>): Promise<void> {
    const { failed } = await this.suite(name, work);
    if (failed > 0) throw new Stopped(`${name} failed: the rest was not run`);
  }

  /** Records a skipped suite with the reason. */
  skip(name: string, reason: string): void {
    this.#skipped.push(`${name}: skipped, ${reason}`);
    this.#print(`\n── ${name}: skipped, ${reason}\n`);
  }

  /** Records findings that are not tests. Each counts as one failure. */
  fail(...findings: readonly string[]): void {
    for (const finding of findings) this.#tallies.push({ passed: 0, failed: 1, failures: [finding] });
  }

  #note(name: string, result: SuiteResult | StoriesResult): Verdict {
    const { wallSeconds, cpuSeconds, ...tally } = result;
    const stories = 'endings' in result ? result.endings.length : undefined;
    if ('endings' in result) this.endings.push(...result.endings);
    if ('flakes' in result) this.flakes.push(...result.flakes);
    if ('leftOut' in result) this.#leftOut.push(...result.leftOut);
    this.#tallies.push(tally);
    const line: Line = { name, tally, wallSeconds, cpuSeconds, ...(stories === undefined ? {} : { stories }) };
    this.#lines.push(line);
    this.#print(`── ${lineOf(line)}\n`);
    const isWithinBudget = this.#checkBudget(line);
    this.writeTally();
    return { ...tally, isWithinBudget };
  }

  /** Checks the budget of a green suite. A red suite may have ended early. */
  #checkBudget({ name, tally, cpuSeconds, stories }: Line): boolean {
    if (!this.isBudgeted || tally.failed > 0) return true;
    const cost = { suite: name, cpuSeconds, ...(stories === undefined ? {} : { stories }) };
    const over = overBudget(cost, this.#slowness);
    if (over !== undefined) this.fail(over);
    return over === undefined;
  }

  /** Writes the tally so far, so that a killed run leaves one too. */
  writeTally(): void {
    writeFileSync(join(this.#directory, 'tally'), `${plainLine(this.tally)}\n`);
  }

  end(reason?: string): void {
    this.writeTally();
    this.#print(
      runReport({
        lines: this.#lines,
        skipped: this.#skipped,
        endings: this.endings,
        flakes: this.flakes,
        leftOut: this.#leftOut,
        tally: this.tally,
        seconds: this.seconds,
        slowness: this.#slowness,
        ...(reason === undefined ? {} : { reason }),
      }),
    );
    if (!this.isGreen) process.exitCode = 1;
  }
}
