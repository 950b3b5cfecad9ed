import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Long-lived collections of the operator, and what removes their entries. */
const known: Readonly<Record<string, string>> = {
  'src/controllers/cluster/observe/alarms.ts #answers': 'Memories, by Watched',
  'src/controllers/cluster/act/freshness.ts #done': 'removed by the next pass, also for a deleted cluster',
  'src/controllers/shared/status-writer.ts reportedResources': 'WeakMap by resource',
  'src/controllers/cluster/parse-cached.ts parsedObjects': 'WeakMap by object',
  'src/controllers/cluster/tls/secret-cache.ts #invalidated': 'Memories',
  'src/controllers/cluster/tls/secret-cache.ts #entries': 'Memories',
  'src/controllers/restore/awaited-objects.ts #awaited': 'Memories',
  'src/controllers/cluster/roll-turns.ts #rolling': 'Memories',
  'src/controllers/cluster/roll-turns.ts #waiting': 'Memories',
  'src/controllers/cluster/settled.ts #settled': 'Memories',
  'src/etcd/connections.ts #kept': 'Memories',
  'src/etcd/connections.ts #ofOwner': 'Memories',
  'src/etcd/connections.ts #used': 'Memories',
  'src/etcd/connections.ts #resting': 'Memories',
  'src/operator/operator.ts #missingRights': 'one entry for each namespace of --namespaces',
  'src/runtime/events.ts #allowances': 'Memories',
  'src/runtime/events.ts #entries': 'Memories',
  'src/runtime/events.ts #namesOf': 'Memories',
  'src/runtime/expectations.ts #open': 'Memories',
  'src/runtime/lane.ts #ready': 'removed by the queue',
  'src/runtime/memories.ts #named': 'one entry for each Memories field',
  'src/runtime/memories.ts map': 'Memories',
  'src/runtime/wait-backoff.ts #waits': 'removed by the queue',
  'src/runtime/slim.ts shares': 'local to one call',
  'src/runtime/store.ts #handlers': 'one entry for each controller',
  'src/runtime/store.ts #keys': 'removed with its object',
  'src/runtime/store.ts #objects': 'removed with its object',
  'src/runtime/store.ts #versions': 'one entry for each watch',
  'src/runtime/condition-durations.ts #rounds': 'Memories, by Watched and TerminatingPods',
  'src/runtime/work-queue.ts #addedMeanwhile': 'removed by the queue',
  'src/runtime/work-queue.ts #failures': 'removed by the queue',
  'src/runtime/work-queue.ts #later': 'removed by the queue',
  'src/runtime/work-queue.ts #slow': 'removed by the queue',
  'src/runtime/work-queue.ts #working': 'removed by the queue',
  'src/runtime/worker.ts running': 'local to one pass',
};

/** Fields and module constants that hold a collection. Local variables of functions are not included. */
const lasting = [
  /^ {2}(?:readonly )?(?<name>#\w+)\b.* = new (?:Weak)?(?:Map|Set)\b/,
  /^(?:export )?const (?<name>\w+)\b.* = new Weak(?:Map|Set)\b/,
  /^(?:export )?const (?<name>\w+)\b.* = new (?:Map|Set)(?:<.*>)?\(\)/,
];
/** In programs, local variables live as long as the process. */
const lastingInPrograms = /^ +const \[?(?:\w+, )?(?<name>\w+)\b.* = (?:\[.*)?new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)/;

function containersIn(file: string): readonly string[] {
  const isProgram = /^src\/(?:operator|runtime)\//.test(file);
  const patterns = isProgram ? [...lasting, lastingInPrograms] : lasting;
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const name = patterns.map((pattern) => pattern.exec(line)?.groups?.['name']).find((found) => found !== undefined);
    return name === undefined ? [] : [`${file} ${name}`];
  });
}

it('every long-lived collection is listed with what removes its entries', () => {
  const files = globSync('src/{operator,runtime,controllers,etcd,kube}/**/*.ts').filter(
    (file) => !file.includes('.test.'),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = [...new Set(files.flatMap(containersIn))].sort();
  // Register a new collection with `Memories` (src/runtime/memories.ts), which drops entries of deleted objects.
  expect(found).toEqual(Object.keys(known).sort());
});
