/** How long something may take before we say that it is under way. */
const quietMillis = 1_000;
/** A log file needs far fewer lines than a terminal, which shows one line that changes. */
const everyMillis = process.stderr.isTTY ? 1_000 : 20_000;

/** Runs `work`, and while that takes long says what is being done and for how long; silent when it is quick. */
export async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let shown = 0;
  const show = (): void => {
    const now = performance.now();
    if (now - started < quietMillis || (shown > 0 && now - shown < everyMillis)) return;
    shown = now;
    say(`${title} … ${seconds(started)}`, 'again');
  };
  const timer = setInterval(show, 250);
  try {
    const result = await work();
    if (shown > 0) say(`${title}: ${seconds(started)}`, 'last');
    return result;
  } catch (error) {
    if (shown > 0) say(`${title}: failed after ${seconds(started)}`, 'last');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

function say(line: string, which: 'again' | 'last'): void {
  const onTerminal = process.stderr.isTTY;
  const end = onTerminal && which === 'again' ? '' : '\n';
  process.stderr.write(`${onTerminal ? '\r\u001b[2K' : ''}${line}${end}`);
}
