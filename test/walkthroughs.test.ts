import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What a story types, with the names of files and pods in place of what stands for them there. */
const typedIn = (story: string): string =>
  textOf(`test/e2e/${story}.alone.e2e.ts`)
    .replaceAll(/\$\{file\('([^']+)'\)\}/g, '$1')
    .replaceAll('-f -', '-f my-etcd.yaml')
    .replaceAll(/\$\{victim\}/g, 'example-etcd-cluster-…')
    .replaceAll(/\$\{domain\} \$\{words\}/g, 'my-etcd.default.svc.cluster.local put foo bar')
    .replaceAll(/delete -f \$\{file\(`etcd-operator-\$\{name\}\.yaml`\)\}/g, deletions)
    .replaceAll("'get', 'pods', '-w'", 'get pods -w');

const deletions = ['sa', 'role', 'rolebinding', 'crd', 'deployment']
  .map((part) => `delete -f etcd-operator-${part}.yaml`)
  .join('\n');

const commandsOf = (page: string): readonly string[] =>
  [...textOf(`docs/guide/${page}.md`).matchAll(/^(?:\$ kubectl|\/ #) (.+)$/gm)].map(([, words = '']) =>
    words.replace(/ -o yaml$/, ''),
  );

it.each(['the-book', 'the-talk'])('every command of the page on %s is typed in its story', (name) => {
  const typed = typedIn(name);
  const commands = commandsOf(name);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => !typed.includes(command))).toEqual([]);
});
