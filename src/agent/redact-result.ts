import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { redacted, withoutCredentials } from '../std/redact.ts';
import type { AgentResult } from './result.ts';

type Flags = Readonly<Record<string, unknown>>;

/** Flags with the mount directory of a Secret. */
const secretFlags = ['credentials', 'etcdTls', 'etcdUser', 'storeProxy', 'identity'] as const;

/** The result without values of mounted Secrets: error messages of stores and etcd may quote them. */
export async function withoutSecrets(result: AgentResult, flags: object): Promise<AgentResult> {
  const directories = secretFlags.map((flag) => (flags as Flags)[flag]).filter((each) => typeof each === 'string');
  const values = (await Promise.all(directories.map(valuesIn))).flat();
  const redact = (text: string): string => withoutCredentials(redacted(text, values));
  return result.ok ? withWarnings(result, redact) : { ...result, message: redact(result.message) };
}

type Good = AgentResult & { readonly ok: true };

/** Warnings may quote stores and etcd, too. Other fields never do. */
const withWarnings = (result: Good, redact: (text: string) => string): Good =>
  Array.isArray(result['warnings'])
    ? { ...result, warnings: result['warnings'].map((warning) => redact(String(warning))) }
    : result;

/** Usernames appear in messages on purpose. */
const publicKeys: ReadonlySet<string> = new Set(['username']);

async function valuesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => !name.startsWith('..') && !publicKeys.has(name));
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
  return texts.flatMap((text) => [text, ...leavesOf(text)]);
}

/** Secret values inside key files: Google uses JSON, AWS one setting per line. */
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
