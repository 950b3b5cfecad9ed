import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The controllers with a plan, and the folder that takes the steps of each. */
const controllers = ['src/controllers/cluster/', 'src/controllers/restore/'];
const executorOf = (controller: string): string => `${controller}act/`;
const sourcesOf = (controller: string): readonly string[] =>
  globSync(`${controller}**/*.ts`).filter((file) => !file.endsWith('.test.ts'));

/** Calls that write to the API server, through a writer or a client, or that change a member list. */
const write =
  /\.(?:create|patch|remove)\(|\b(?:memberAdd|memberPromote|memberRemove|memberUpdate|moveLeader|downgrade)\(|\bpublish\w*\(/;
/** The status is written at the end of a pass by the status writer, and is no step. */
const status = /\bpublish(?:Pass|Peers|Optional|Status)?\(/;

const writesIn = (file: string): readonly string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => write.test(line) && !status.test(line))
    .map((line) => `${file}: ${line.trim()}`);

it.each(controllers)('only the executor of steps writes in %s', (controller) => {
  const isExecutor = (file: string): boolean => file.startsWith(executorOf(controller));
  expect(
    sourcesOf(controller)
      .filter((file) => !isExecutor(file))
      .flatMap(writesIn),
  ).toEqual([]);
  expect(sourcesOf(controller).filter(isExecutor).flatMap(writesIn).length).toBeGreaterThan(10);
});
