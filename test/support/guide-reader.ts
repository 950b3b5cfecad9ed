import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../tools/lib/run.ts';
import { commandBlocks } from './guide.ts';
import { imageUnderTest, underTest } from './operator.ts';
import type { StoryContext } from './story.ts';

const root = join(import.meta.dirname, '../..');

/** What surrounds the commands below a heading of a page. */
export interface Section {
  /** Prepares what the page assumes, and returns the values of its placeholders, such as `<member>`. */
  readonly before?: () => Promise<Readonly<Record<string, string>> | void>;
  /** Checks the result of one block. `output` is the output of its commands. */
  readonly after?: (output: string) => Promise<void> | void;
}

type Sections = Readonly<Record<string, Section | readonly Section[]>>;

/** A reader of guides: runs the commands of pages in a copy of the manifests. */
export interface GuideReader extends Disposable {
  /** The working directory: the root of the repository, as far as guides use it. */
  readonly directory: string;
  /**
   * Runs all commands of a page in order, except blocks that are marked as not run. Sections are identified by heading; a list
   * has one section for each block below the heading.
   */
  readonly follow: (page: string, sections?: Sections) => Promise<void>;
}

/** Guides use the namespace `default` and an image of the reader's. A story has others. */
function adapted(text: string, namespace: string): string {
  return text
    .replaceAll(/(namespace[: ]) ?default\b/g, `$1 ${namespace}`)
    .replaceAll('.default.svc', `.${namespace}.svc`)
    .replaceAll('"default/', `"${namespace}/`)
    .replaceAll('registry.example.com/etcd-operator:0.1.0', imageUnderTest());
}

export async function guideReader({ namespace, step }: Pick<StoryContext, 'namespace' | 'step'>): Promise<GuideReader> {
  const directory = mkdtempSync(join(tmpdir(), 'guide-'));
  for (const folder of ['examples', 'deploy']) cpSync(join(root, folder), join(directory, folder), { recursive: true });
  for (const file of globSync('{examples,deploy}/**/*.yaml', { cwd: directory })) {
    const path = join(directory, file);
    writeFileSync(path, underTest(adapted(readFileSync(path, 'utf8'), namespace)));
  }
  const env = { KUBECONFIG: join(directory, 'kubeconfig') };
  writeFileSync(env.KUBECONFIG, await run('kubectl', ['config', 'view', '--raw', '--flatten']), { mode: 0o600 });
  await run('kubectl', ['config', 'set-context', '--current', `--namespace=${namespace}`], { env });

  const type = async (script: string, values: Readonly<Record<string, string>>): Promise<string> => {
    const commands = Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), script);
    return run('bash', ['-euo', 'pipefail', '-c', adapted(commands, namespace)], { cwd: directory, env });
  };
  return {
    directory,
    follow: async (page, sections = {}) => {
      const blocks = commandBlocks(page).filter(({ notRun }) => notRun === undefined);
      const unknown = Object.keys(sections).filter((name) => !blocks.some(({ heading }) => heading === name));
      if (unknown.length > 0) throw new Error(`${page} has no commands below: ${unknown.join(', ')}`);
      const count: Record<string, number> = {};
      for (const { heading, script } of blocks) {
        const index = (count[heading] = (count[heading] ?? -1) + 1);
        const { before, after } = [sections[heading] ?? {}].flat()[index] ?? {};
        await step(`${page}: ${heading}`, async () => {
          const values = (await before?.()) ?? {};
          const output = await type(script, values);
          await after?.(output);
        });
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
