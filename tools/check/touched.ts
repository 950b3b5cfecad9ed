import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../lib/run.ts';

/** Path patterns of sources and stories of one topic. */
const topics: readonly RegExp[] = [
  /backup|restore|schedule|periodic|agent|storage|store|snapshot|prune/,
  /tls|certificate|pki|secret|authorit|planes|encrypt/,
  /version|upgrade|outdated|\broll|downgrade|midway/,
  /adopt|take-over|inherited|original|old-lock/,
  /volume|claim|disk|pvc|grow/,
  /node|unreachable|replace|heal|member/,
  /auth|credential|user/,
  /role|rbac|access|refused/,
  /improbable|peer|numbered|talk/,
];

/** Folders with topics in their file names. */
const named = /^(src|examples|deploy)\//;

/** Files that stories import or read. A change affects every story that names the file. */
const used = /^(test\/support|examples|deploy)\//;

export interface StoryFile {
  readonly file: string;
  readonly text: string;
}

/**
 * The story files that a change may affect: changed stories, stories of the same topic, stories that name a changed
 * file.
 */
export function storiesTouched(changed: readonly string[], stories: readonly StoryFile[]): ReadonlySet<string> {
  const reached = topics.filter((topic) => changed.some((path) => named.test(path) && topic.test(path)));
  const names = changed.filter((path) => used.test(path)).map((path) => `/${basename(path)}`);
  const isTouched = ({ file, text }: StoryFile): boolean =>
    changed.includes(`test/e2e/${file}`) ||
    reached.some((topic) => topic.test(file)) ||
    names.some((name) => text.includes(name));
  return new Set(stories.filter(isTouched).map(({ file }) => file));
}

/** Reads story files. */
export const readStories = (files: readonly string[]): readonly StoryFile[] =>
  files.map((file) => ({ file, text: readFileSync(join(directory, file), 'utf8') }));

const directory = join(import.meta.dirname, '../../test/e2e');

/** The files changed since the last landing in this history, or else by the last commit. */
export async function changedFiles(landings: readonly string[]): Promise<readonly string[]> {
  for (const commit of landings.toReversed()) {
    const { code, stdout } = await attempt('git', ['diff', '--name-only', commit, 'HEAD']);
    const isAncestor = (await attempt('git', ['merge-base', '--is-ancestor', commit, 'HEAD'])).code === 0;
    if (code === 0 && isAncestor) return stdout.split('\n').filter(Boolean);
  }
  const { code, stdout } = await attempt('git', ['diff', '--name-only', 'HEAD~1', 'HEAD']);
  return code === 0 ? stdout.split('\n').filter(Boolean) : [];
}

export async function headCommit(): Promise<string> {
  const { code, stdout } = await attempt('git', ['rev-parse', 'HEAD']);
  return code === 0 ? stdout.trim() : 'unknown';
}
