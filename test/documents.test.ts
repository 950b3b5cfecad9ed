import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operatorCommand } from '../src/operator/settings.ts';
import { commandBlocks, pagesWithCommands } from './support/guide.ts';

const root = join(import.meta.dirname, '..');
const pages = globSync(['*.md', '{bench,deploy,docs,examples}/**/*.md'], { cwd: root });
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
/** Pages with commands. The walkthroughs have a test of their own (walkthroughs.test.ts). */
const guides = pages.filter((page) => /^(README|docs\/guide\/(?!the-book|the-talk)[\w-]+)\.md$/.test(page));

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set([...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));

const isMissingAnchor = (page: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
};

/** The manifests that the commands of a page name, as paths from the root. `cd` counts within its code block. */
function manifestsIn(page: string): readonly string[] {
  const blocks = [...read(page).matchAll(/^```(?:console|sh)\n(.*?)^```/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) => {
    const directory = /^(?:[$#] )?cd (\S+)/m.exec(block)?.[1] ?? '.';
    const named = [...block.matchAll(/ -[fk] ([\w./-]*\/?[\w.-]*\w)/g)].map(([, file = '']) => file);
    return named.map((file) => join(directory, file));
  });
}

describe('the documents', () => {
  it('have no link to a heading that does not exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => isMissingAnchor(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name no source file that does not exist', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:src|lab|test|tools|bench|deploy|examples)\/[\w./-]+)`/g)].map(
        ([, path = '']) => path,
      ),
    );
    expect(named.length).toBeGreaterThan(100);
    expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('apply only manifests that exist', () => {
    const applied = guides.flatMap(manifestsIn);
    expect(applied.length).toBeGreaterThan(30);
    expect(applied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(manifestsIn('README.md')).toContain('examples/coreos/etcd-operator-crd.yaml');
  });

  it('have only commands that a story runs, except those with a reason', () => {
    const withCommands = [...guides, 'docs/guide/the-book.md', 'docs/guide/the-talk.md'].filter(
      (page) => commandBlocks(page).length > 0,
    );
    expect(withCommands.toSorted()).toEqual(Object.keys(pagesWithCommands).toSorted());
    const followed = (page: string, story: string): boolean =>
      read(story).includes(`.follow('${page}'`) || story.endsWith(`${basename(page, '.md')}.alone.e2e.ts`);
    expect(Object.entries(pagesWithCommands).filter(([page, story]) => !followed(page, story))).toEqual([]);
  });

  it('leave few commands to the reader, each with its reason', () => {
    const notRun = Object.keys(pagesWithCommands).flatMap((page) =>
      commandBlocks(page).flatMap(({ notRun: reason }) => (reason === undefined ? [] : [`${page}: ${reason}`])),
    );
    const [docker, portForward] = ['needs Docker and a registry', 'the lab refuses kubectl port-forward'];
    const sameProgram = (test: string): string => `runs until Ctrl-C; ${test} runs the same program`;
    expect(notRun).toEqual([
      `README.md: ${sameProgram('test/lab/lab-as-a-program.test.ts')}`,
      `README.md: ${docker}`,
      `docs/guide/disaster.md: ${portForward}`,
      `docs/guide/install.md: ${docker}`,
      `docs/guide/install.md: ${sameProgram('test/e2e/operator-outside-the-cluster.e2e.ts')}`,
      `docs/guide/install.md: ${portForward}`,
      `docs/guide/lab.md: ${sameProgram('test/lab/lab-as-a-program.test.ts')}`,
      'docs/guide/lab.md: needs a lab of its own; test/lab/whole-lab.test.ts uses the same ports',
      'docs/guide/tls.md: the address is reachable from pods only',
    ]);
  });

  it('list every page in docs/README.md', () => {
    const index = read('docs/README.md') + read('docs/decisions.md');
    const all = globSync('docs/{guide,reference,design}/*.md', { cwd: root }).map((page) => page.slice('docs/'.length));
    expect(all.filter((page) => !index.includes(`(${page})`))).toEqual([]);
  });

  it('name every flag of the operator on the page of flags', () => {
    const page = read('docs/reference/flags.md');
    const flags = operatorCommand().options.map(({ long }) => long);
    expect(flags.filter((flag) => !page.includes(`\`${flag}`))).toEqual([]);
  });

  it('give each decision a title, a status and a date', () => {
    const decisions = globSync('docs/design/*.md', { cwd: root });
    const form = /^# \d+\. .+\n\nStatus: .+ · Date: \d{4}-\d\d-\d\d\n/;
    expect(decisions.filter((page) => !form.test(read(page)))).toEqual([]);
  });
});
