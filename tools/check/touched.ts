import { attempt } from '../lib/run.ts';

/** Words by which sources and stories of one topic are recognised in their paths. */
const topics: readonly RegExp[] = [
  /backup|restore|schedule|periodic|agent|storage|store|snapshot|prune|saving/,
  /tls|certificate|pki|secret|authorit|planes|encrypt/,
  /version|upgrade|outdated|roll|downgrade|changed-on-the-way/,
  /take-over|taken-over|inherited|original|old-lock/,
  /volume|claim|disk|pvc|grow/,
  /node|unreachable|replace|heal|member/,
  /auth|credential|user/,
  /role|rbac|access|refused/,
  /improbable|peer|numbered|talk/,
];

/** The files of stories that a change of these files may reach: their own, and those of the same topic. */
export function storiesTouched(changed: readonly string[], stories: readonly string[]): ReadonlySet<string> {
  const sources = changed.filter((path) => path.startsWith('src/'));
  const reached = topics.filter((topic) => sources.some((path) => topic.test(path)));
  return new Set(
    stories.filter((file) => changed.includes(`test/e2e/${file}`) || reached.some((topic) => topic.test(file))),
  );
}

/** What has changed since the last landing that this history knows; else what the last commit changed. */
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
