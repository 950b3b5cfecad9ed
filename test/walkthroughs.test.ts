import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The commands of a story, with template expressions replaced by the names on the page. */
const commandsInStory = (story: string): string =>
  textOf(`test/e2e/${story}.alone.e2e.ts`)
    .replaceAll(/\$\{file\('([^']+)'\)\}/g, '$1')
    .replaceAll('-f -', '-f my-etcd.yaml')
    .replaceAll(/\$\{victim\}/g, 'example-etcd-cluster-…')
    .replaceAll(/\$\{domain\} \$\{args\}/g, 'my-etcd.default.svc.cluster.local put foo bar')
    .replaceAll(/delete -f \$\{file\(`etcd-operator-\$\{name\}\.yaml`\)\}/g, deletions)
    .replaceAll("'get', 'pods', '-w'", 'get pods -w');

const deletions = ['sa', 'role', 'rolebinding', 'crd', 'deployment']
  .map((part) => `delete -f etcd-operator-${part}.yaml`)
  .join('\n');

const commandsOf = (page: string): readonly string[] =>
  [...textOf(`docs/guide/${page}.md`).matchAll(/^(?:\$ kubectl|\/ #) (.+)$/gm)].map(([, command = '']) =>
    command.replace(/ -o yaml$/, ''),
  );

it.each(['the-book', 'the-talk'])('every command of the page %s is run by its story', (name) => {
  const inStory = commandsInStory(name);
  const commands = commandsOf(name);
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter((command) => !inStory.includes(command))).toEqual([]);
});
