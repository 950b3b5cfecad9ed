import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redacted, withoutCredentials } from '../std/redact.ts';
import type { AgentResult } from './result.ts';

type Flags = Readonly<Record<string, unknown>>;

/** Flags of an agent that name a directory where a Secret is mounted. */
const secretFlags = ['credentials', 'etcdTls', 'etcdUser', 'courier', 'identity'] as const;

/** A result without the values of the Secrets that the agent was given: stores and etcd may quote what they are shown. */
export async function withoutSecrets(result: AgentResult, flags: object): Promise<AgentResult> {
  const directories = secretFlags.map((flag) => (flags as Flags)[flag]).filter((each) => typeof each === 'string');
  const values = (await Promise.all(directories.map(valuesIn))).flat();
  const shown = (text: string): string => withoutCredentials(redacted(text, values));
  return result.ok ? withWarnings(result, shown) : { ...result, message: shown(result.message) };
}

type Good = AgentResult & { readonly ok: true };

/** Warnings quote stores and etcd as messages do. Other fields are facts. */
const withWarnings = (result: Good, shown: (text: string) => string): Good =>
  Array.isArray(result['warnings'])
    ? { ...result, warnings: result['warnings'].map((warning) => shown(String(warning))) }
    : result;

/** Usernames are in messages on purpose. */
const shownKeys: ReadonlySet<string> = new Set(['username']);

async function valuesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => !name.startsWith('..') && !shownKeys.has(name));
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
  return texts.flatMap((text) => [text, ...leavesOf(text)]);
}

/** A key of Google's is a JSON file, and files of AWS have a setting in each line. */
function leavesOf(text: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Object.entries(parsed as object).flatMap(([name, value]) =>
      typeof value === 'string' && /key|secret|token|password/i.test(name) ? [value] : [],
    );
  } catch {
    return text.split('\n').flatMap((line) => /^\s*\w*(?:secret|token|key)\w*\s*=\s*(\S+)/i.exec(line)?.[1] ?? []);
  }
}
