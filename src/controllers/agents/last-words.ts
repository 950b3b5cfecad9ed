/**
 * Why a process says that it ended, out of what Kubernetes kept of its log: the last 2048 bytes, in which etcd's
 * complaint stands somewhere between its settings and the stack of its panic. Events and conditions have room for
 * one sentence, so it is looked for, and only where none is found are the last lines told as they are.
 */
export function lastWords(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const complaint = worst(lines, 'panic') ?? worst(lines, 'error') ?? panicOf(lines) ?? lastWarning(lines);
  return complaint ?? ended(lines.join('\n').trim());
}

type Severity = 'panic' | 'error' | 'warning';

/** The last complaint of this severity. */
function worst(lines: readonly string[], severity: Severity): string | undefined {
  for (const line of lines.toReversed()) {
    const complaint = line.startsWith('{') ? ofEntry(line, severity) : ofPlainLine(line, severity);
    if (complaint !== undefined) return shortened(complaint);
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

/** Go's own line, above a stack. Its entry in the log, of which the end may be left, can say more. */
function panicOf(lines: readonly string[]): string | undefined {
  const at = lines.findLastIndex((line) => line.startsWith('panic: '));
  if (at === -1) return undefined;
  const cause = /"error":"(?<error>(?:[^"\\]|\\.)*)"/.exec(lines[at - 1] ?? '')?.groups?.['error'];
  return shortened([lines[at], cause].filter((part) => part !== undefined).join(': '));
}

/** etcd only warns of settings that it ends for. Warnings before the last line may be of anything. */
const lastWarning = (lines: readonly string[]): string | undefined => worst(lines.slice(-1), 'warning');

const longest = 400;

const shortened = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`);

/** Of plain output it is the end that says why. */
const ended = (text: string): string => (text.length <= longest ? text : `…${text.slice(1 - longest)}`);
