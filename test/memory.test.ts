import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** What is filled while the operator runs, and what takes out again what was put in. */
const known: Readonly<Record<string, string>> = {
  'src/controllers/cluster/alarms.ts #heard': 'Memories, by Watched',
  'src/controllers/cluster/freshness.ts #done': 'taken by the next pass, also over what is gone',
  'src/controllers/cluster/publish.ts toldOf': 'weak, by resource',
  'src/controllers/cluster/read-once.ts alreadyRead': 'weak, by object',
  'src/controllers/cluster/remembered-secrets.ts #doubted': 'Memories',
  'src/controllers/cluster/remembered-secrets.ts #entries': 'Memories',
  'src/controllers/restore/glance.ts #awaited': 'Memories',
  'src/etcd/connections.ts #kept': 'Memories',
  'src/main/operator.ts #undone': 'one entry a namespace of --namespaces',
  'src/runtime/events.ts #allowances': 'Memories',
  'src/runtime/events.ts #entries': 'Memories',
  'src/runtime/expectations.ts #open': 'Memories',
  'src/runtime/lane.ts #ready': 'counted by the queue',
  'src/runtime/memories.ts #named': 'one entry a memory',
  'src/runtime/memories.ts map': 'Memories',
  'src/runtime/patience.ts #waits': 'counted by the queue',
  'src/runtime/slim.ts shares': 'goes with its call',
  'src/runtime/store.ts #handlers': 'one entry a controller',
  'src/runtime/store.ts #keys': 'goes with its object',
  'src/runtime/store.ts #objects': 'goes with its object',
  'src/runtime/store.ts #versions': 'one entry a watch',
  'src/runtime/sustained.ts #rounds': 'Memories, by Watched and TerminatingPods',
  'src/runtime/work-queue.ts #addedMeanwhile': 'counted by the queue',
  'src/runtime/work-queue.ts #failures': 'counted by the queue',
  'src/runtime/work-queue.ts #later': 'counted by the queue',
  'src/runtime/work-queue.ts #slow': 'counted by the queue',
  'src/runtime/work-queue.ts #working': 'counted by the queue',
  'src/runtime/worker.ts beside': 'goes with its pass',
};

/** A field, or a constant that is filled later: one that a function fills and drops has no place here. */
const lasting = [
  /^ {2}(?:readonly )?(?<name>#\w+)\b.* = new (?:Weak)?(?:Map|Set)\b/,
  /^(?:export )?const (?<name>\w+)\b.* = new Weak(?:Map|Set)\b/,
  /^(?:export )?const (?<name>\w+)\b.* = new (?:Map|Set)(?:<.*>)?\(\)/,
];
/** What programs are put together of lasts as long as they do. */
const lastingInPrograms = /^ +const \[?(?:\w+, )?(?<name>\w+)\b.* = (?:\[.*)?new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)/;

function containersIn(file: string): readonly string[] {
  const isProgram = /^src\/(?:main|runtime)\//.test(file);
  const patterns = isProgram ? [...lasting, lastingInPrograms] : lasting;
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const name = patterns.map((pattern) => pattern.exec(line)?.groups?.['name']).find((found) => found !== undefined);
    return name === undefined ? [] : [`${file} ${name}`];
  });
}

it('nothing that lasts is filled without being emptied', () => {
  const files = globSync('src/{main,runtime,controllers,etcd,kube}/**/*.ts').filter((file) => !file.includes('.test.'));
  expect(files.length).toBeGreaterThan(100);
  const found = [...new Set(files.flatMap(containersIn))].sort();
  // A new one is given to `Memories` (src/runtime/memories.ts), which drops what it has of an object that is gone.
  expect(found).toEqual(Object.keys(known).sort());
});
