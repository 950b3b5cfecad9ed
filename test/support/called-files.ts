import { type Profiler, Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/** Records the files of this process with a called function. Files that are only loaded do not count. */
export class CalledFiles implements Disposable {
  readonly #session = new Session();

  async begin(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
  }

  /** The files below a directory with at least one called function. */
  async below(directory: string): Promise<readonly string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const files = result.filter((script) => hasCall(script)).map(({ url }) => pathOf(url));
    return [...new Set(files)].filter((path) => path.startsWith(directory)).toSorted();
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}

/** Functions without a name belong to the loading of a module. */
const hasCall = ({ functions }: Profiler.ScriptCoverage): boolean =>
  functions.some(({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0));

const pathOf = (url: string): string => (url.startsWith('file:') ? fileURLToPath(url) : url);
