import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';

/** The environment variable with the path of the output file. */
export const otherFailuresVariable = 'OTHER_FAILURES';

/**
 * A vitest reporter for failures that the JSON report omits: uncaught errors, failed hooks in files with a failed test,
 * and a failed global teardown. The exit code does not distinguish these from a failed test.
 */
export default class OtherFailures implements Reporter {
  readonly #file = process.env[otherFailuresVariable];
  readonly #found: string[] = [];

  onInit({ logger }: Vitest): void {
    const print = logger.error.bind(logger);
    logger.error = (...words: unknown[]): void => {
      // The report is written before the teardown, so this log line is the only trace of a failed teardown.
      if (words[0] === 'error during close') this.#note(`after the tests: ${messageOf(words[1])}`);
      print(...words);
    };
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#note(...modules.flatMap(hookFailures), ...unhandled.map((error) => `unhandled: ${messageOf(error)}`));
  }

  #note(...failures: readonly string[]): void {
    this.#found.push(...failures);
    if (this.#file !== undefined) writeFileSync(this.#file, JSON.stringify(this.#found));
  }
}

/** Failed hooks in files with a failed test. A file without a failed test counts in the JSON report already. */
function hookFailures(file: TestModule): readonly string[] {
  if (file.children.allTests('failed').next().done === true) return [];
  const errors = [file, ...file.children.allSuites()].flatMap((each) => each.errors());
  return errors.map((error) => `${file.relativeModuleId}: ${messageOf(error)}`);
}

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
