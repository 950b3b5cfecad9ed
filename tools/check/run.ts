import { writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ending } from '../../test/support/story-turns.ts';
import { slowness } from '../lib/cpu.ts';
import { plainLine, resultsDirectory, type SuiteResult, sum, type Tally } from '../lib/suites.ts';
import { overBudget } from './budgets.ts';
import type { Pair } from './choose.ts';
import { type Line, lastLines, lineOf } from './report.ts';
import type { StoriesResult } from './tell-stories.ts';

/** A red result after which the rest is not worth its time. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What came of a suite. */
export interface Verdict extends Tally {
  readonly isWithinBudget: boolean;
}

interface Terms {
  readonly isBudgeted: boolean;
  /** How much slower than the reference this machine is; measured if not given. */
  readonly slowness?: number;
  /** Where its tally is written. */
  readonly directory?: string;
  readonly say?: (text: string) => void;
}

const toStdout = (text: string): void => void process.stdout.write(text);

/** One run of a tier: its suites as they end, what they cost, and what is said of them at the end. */
export class Run {
  readonly #began = performance.now();
  readonly #slowness: number;
  readonly #directory: string;
  readonly #say: (text: string) => void;
  readonly #lines: Line[] = [];
  readonly #tallies: Tally[] = [];
  readonly #skipped: string[] = [];
  readonly endings: Ending[] = [];
  readonly flakes: string[] = [];
  readonly #leftOut: Pair[] = [];
  readonly isBudgeted: boolean;

  constructor({ isBudgeted, slowness: given = slowness(), directory = resultsDirectory, say = toStdout }: Terms) {
    this.isBudgeted = isBudgeted;
    this.#slowness = given;
    this.#directory = directory;
    this.#say = say;
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

  /** Runs one suite. An error of its own counts as a failure; it does not keep the others from being run. */
  async suite(name: string, work: () => Promise<SuiteResult | StoriesResult>): Promise<Verdict> {
    this.#say(`\n── ${name}\n`);
    const began = performance.now();
    const result = await work().catch((error: unknown): SuiteResult => {
      const failure = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      return {
        ...{ passed: 0, failed: 1, failures: [failure], cpuSeconds: 0 },
        wallSeconds: (performance.now() - began) / 1000,
      };
    });
    return this.#note(name, result);
  }

  /** The same, and what follows is not run if it is red. */
  async gate(name: string, work: () => Promise<SuiteResult | StoriesResult>): Promise<void> {
    const { failed } = await this.suite(name, work);
    if (failed > 0) throw new Stopped(`${name} is red: the rest was not run`);
  }

  /** A suite that is not run, by name and with the reason. */
  skip(name: string, reason: string): void {
    this.#skipped.push(`${name}: skipped, ${reason}`);
    this.#say(`\n── ${name}: skipped, ${reason}\n`);
  }

  /** A finding that is no test: it counts as one failure. */
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
    this.#say(`── ${lineOf(line)}\n`);
    const isWithinBudget = this.#checkBudget(line);
    this.writeTally();
    return { ...tally, isWithinBudget };
  }

  /** What failed early has not cost what it should. */
  #checkBudget({ name, tally, cpuSeconds, stories }: Line): boolean {
    if (!this.isBudgeted || tally.failed > 0) return true;
    const cost = { suite: name, cpuSeconds, ...(stories === undefined ? {} : { stories }) };
    const over = overBudget(cost, this.#slowness);
    if (over !== undefined) this.fail(over);
    return over === undefined;
  }

  /** A run that is cut off has its tally written so far. */
  writeTally(): void {
    writeFileSync(join(this.#directory, 'tally'), `${plainLine(this.tally)}\n`);
  }

  end(reason?: string): void {
    this.writeTally();
    this.#say(
      lastLines({
        ...{ lines: this.#lines, skipped: this.#skipped, endings: this.endings, flakes: this.flakes },
        leftOut: this.#leftOut,
        ...{ tally: this.tally, seconds: this.seconds, slowness: this.#slowness },
        ...(reason === undefined ? {} : { reason }),
      }),
    );
    if (!this.isGreen) process.exitCode = 1;
  }
}
