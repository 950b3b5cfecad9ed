import { type Profiler, Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/** Sees which files of this process do something from now on, and not only are loaded. */
export class ReachedFiles implements Disposable {
  readonly #session = new Session();

  async begin(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
  }

  /** The files below a directory in which a function was called. */
  async below(directory: string): Promise<readonly string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const files = result.filter((script) => hasDoneSomething(script)).map(({ url }) => pathOf(url));
    return [...new Set(files)].filter((path) => path.startsWith(directory)).toSorted();
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}

/** Functions without a name are what a module does when it is loaded. */
const hasDoneSomething = ({ functions }: Profiler.ScriptCoverage): boolean =>
  functions.some(({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0));

const pathOf = (url: string): string => (url.startsWith('file:') ? fileURLToPath(url) : url);
