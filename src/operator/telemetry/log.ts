import { type Logger, pino } from 'pino';

export type Log = Logger;

/** A logger that writes one line per entry, as JSON or as text. */
export function makeLog(level: string, format: 'json' | 'text' = 'json'): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return format === 'json' ? pino(options) : pino(options, { write: (line) => process.stdout.write(asText(line)) });
}

function asText(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${[String(time), pino.levels.labels[Number(level)], String(msg), ...pairs].join(' ')}\n`;
}

/** Logs restarted watches at debug level: idle watches restart regularly. */
export const watchRestarts =
  (log: Log) =>
  (what: string): void =>
    log.debug(`watch of ${what} restarted`);
