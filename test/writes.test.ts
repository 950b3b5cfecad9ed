import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const sources = globSync('src/controllers/cluster/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
const executor = 'src/controllers/cluster/act/';

/** Calls that write to the API server, through a writer or a client, or that change a member list. */
const write =
  /\.(?:create|patch|remove)\(|\b(?:memberAdd|memberPromote|memberRemove|memberUpdate|moveLeader|downgrade)\(|\bpublish\w*\(/;
/** The status is written at the end of a pass by the status writer, and is no step. */
const status = /\bpublish(?:Pass|Peers|Optional)?\(/;

const writesIn = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => write.test(line) && !status.test(line))
    .map((line) => `${file}: ${line.trim()}`);

it('only the executor of steps writes to a cluster', () => {
  expect(sources.filter((file) => !file.startsWith(executor)).flatMap(writesIn)).toEqual([]);
  expect(sources.filter((file) => file.startsWith(executor)).flatMap(writesIn).length).toBeGreaterThan(20);
});
