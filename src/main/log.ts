import { type Logger, pino } from 'pino';

export type Log = Logger;

/** One line of JSON for everything that is worth telling, or the same for eyes. */
export function makeLog(level: string, format: 'json' | 'text' = 'json'): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return format === 'json' ? pino(options) : pino(options, { write: (line) => process.stdout.write(asText(line)) });
}

function asText(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const told = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${[String(time), pino.levels.labels[Number(level)], String(msg), ...told].join(' ')}\n`;
}

/** An idle watch that ends and begins again is ordinary, so only --log-level=debug shows it. */
export const watchRestarts =
  (log: Log) =>
  (what: string): void =>
    log.debug(`watch of ${what} restarted`);
