/**
 * Extracts the reason of an exit from the last 2048 bytes of a log, which Kubernetes keeps. The error of etcd is
 * between its settings and the stack of its panic. Without an error, the last lines are returned unchanged.
 */
export function terminationMessage(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const message = worst(lines, 'panic') ?? worst(lines, 'error') ?? panicOf(lines) ?? lastWarning(lines);
  return message ?? lastPart(lines.join('\n').trim());
}

type Severity = 'panic' | 'error' | 'warning';

/** The last message of this severity. */
function worst(lines: readonly string[], severity: Severity): string | undefined {
  for (const line of lines.toReversed()) {
    const message = line.startsWith('{') ? ofEntry(line, severity) : ofPlainLine(line, severity);
    if (message !== undefined) return shortened(message);
  }
  return undefined;
}

const levels: Readonly<Record<Severity, readonly unknown[]>> = {
  panic: ['panic', 'fatal'],
  error: ['error'],
  warning: ['warn'],
};

/** etcd from 3.5 on writes JSON. */
function ofEntry(line: string, severity: Severity): string | undefined {
  const { level, msg, error } = parsed(line);
  if (!levels[severity].includes(level)) return undefined;
  return [msg, error].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {}; // cut short
  }
}

/** Before 3.5: `2018-10-01 10:11:12.131415 C | etcdserver: create wal error: no space left on device`. */
const plainLine = /^\d{4}-\d\d-\d\d \S+ (?<letter>[A-Z]) \| (?<text>.+)$/;
const letters: Readonly<Record<Severity, string>> = { panic: 'C', error: 'E', warning: 'W' };

function ofPlainLine(line: string, severity: Severity): string | undefined {
  const { letter, text } = plainLine.exec(line)?.groups ?? {};
  return letter === letters[severity] ? text : undefined;
}

/** The panic line of Go, above the stack. The log entry before it may add the cause. */
function panicOf(lines: readonly string[]): string | undefined {
  const at = lines.findLastIndex((line) => line.startsWith('panic: '));
  if (at === -1) return undefined;
  const cause = /"error":"(?<error>(?:[^"\\]|\\.)*)"/.exec(lines[at - 1] ?? '')?.groups?.['error'];
  return shortened([lines[at], cause].filter((part) => part !== undefined).join(': '));
}

/** etcd logs an invalid setting as a warning before it exits. Earlier warnings may have any cause. */
const lastWarning = (lines: readonly string[]): string | undefined => worst(lines.slice(-1), 'warning');

const maxLength = 400;

const shortened = (text: string): string => (text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`);

/** In plain output the reason is at the end. */
const lastPart = (text: string): string => (text.length <= maxLength ? text : `…${text.slice(1 - maxLength)}`);
