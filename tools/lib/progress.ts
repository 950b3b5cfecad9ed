/** Shorter work prints no progress. */
const quietMillis = 1_000;
/** The interval of progress lines: a terminal rewrites one line, a log file gets few lines. */
const everyMillis = process.stderr.isTTY ? 1_000 : 20_000;

/** Runs `work`. If it takes long, prints its title and the elapsed time. */
export async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let shown = 0;
  const show = (): void => {
    const now = performance.now();
    if (now - started < quietMillis || (shown > 0 && now - shown < everyMillis)) return;
    shown = now;
    print(`${title} … ${seconds(started)}`, 'running');
  };
  const timer = setInterval(show, 250);
  try {
    const result = await work();
    if (shown > 0) print(`${title}: ${seconds(started)}`, 'ended');
    return result;
  } catch (error) {
    if (shown > 0) print(`${title}: failed after ${seconds(started)}`, 'ended');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

function print(line: string, which: 'running' | 'ended'): void {
  const onTerminal = process.stderr.isTTY;
  const end = onTerminal && which === 'running' ? '' : '\n';
  process.stderr.write(`${onTerminal ? '\r\u001b[2K' : ''}${line}${end}`);
}
