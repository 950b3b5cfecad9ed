import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A fenced block of commands in a page. */
export interface CommandBlock {
  readonly heading: string;
  /** The commands as a shell script, without prompts and without the output that a page shows. */
  readonly script: string;
  /** Why no test runs the block: the text of a comment `<!-- not run: … -->` above it. */
  readonly notRun?: string;
}

/** The pages with commands, and the story or test that runs the commands of each. */
export const pagesWithCommands: Readonly<Record<string, string>> = {
  'README.md': 'test/e2e/guides-to-install.alone.e2e.ts',
  'docs/guide/backups.md': 'test/e2e/guide-to-backups.e2e.ts',
  'docs/guide/connect.md': 'test/e2e/guides.e2e.ts',
  'docs/guide/day-2.md': 'test/e2e/guides.e2e.ts',
  'docs/guide/disaster.md': 'test/e2e/disaster-runbook.e2e.ts',
  'docs/guide/install.md': 'test/e2e/guides-to-install.alone.e2e.ts',
  'docs/guide/lab.md': 'test/e2e/guides.e2e.ts',
  'docs/guide/namespaces.md': 'test/e2e/guides-to-install.alone.e2e.ts',
  'docs/guide/taking-over.md': 'test/e2e/guide-to-adoption.e2e.ts',
  'docs/guide/the-book.md': 'test/e2e/the-book.alone.e2e.ts',
  'docs/guide/the-talk.md': 'test/e2e/the-talk.alone.e2e.ts',
  'docs/guide/tls.md': 'test/e2e/guide-to-tls.e2e.ts',
  'docs/guide/upgrades.md': 'test/e2e/guides.e2e.ts',
  'docs/guide/volumes.md': 'test/e2e/guides.e2e.ts',
};

/** The blocks of commands of a page, in order. A block may be indented, in a list. */
export function commandBlocks(page: string, text = readFileSync(join(root, page), 'utf8')): readonly CommandBlock[] {
  const blocks = /(?:<!-- not run: (.+?) -->\s*)?^( *)```(console|sh|bash)\n(.*?)^ *```$/gms;
  return [...text.matchAll(blocks)].map((match) => {
    const [, notRun, indent = '', language, content = ''] = match;
    const lines = content.split('\n').map((line) => line.slice(Math.min(indent.length, line.search(/\S|$/))));
    return {
      heading: headingBefore(text, match.index),
      script: (language === 'console' ? typed(lines) : lines).join('\n').trim(),
      ...(notRun === undefined ? {} : { notRun }),
    };
  });
}

/** The last heading before an index. In a block of commands, `# ` is the prompt of root. */
function headingBefore(text: string, index: number): string {
  const prose = text.slice(0, index).replaceAll(/^ *```.*?^ *```$/gms, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].at(-1)?.[1] ?? '';
}

/** A command with its prompt: up to the end of its here document, or of its last continued line. */
const typedCommand = /^[$#] (?:.*<<(\w+)\n[\s\S]*?^\1|(?:.*\\\n)*.*)$/gm;

/** The commands that a reader types, without prompts and output. */
const typed = (lines: readonly string[]): readonly string[] =>
  [...lines.join('\n').matchAll(typedCommand)].map(([command]) => command.slice(2));
