import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MemberName } from '../src/core/cluster/model/names.ts';
import { run } from '../tools/lib/run.ts';
import { etcdProgram } from '../tools/programs/build.ts';
import { type Bed, runBenchmarks } from './support/bed.ts';
import { cleanUp, resource, settled, threeMembers, waitUntilMembersCanBeAdded } from './support/clusters.ts';
import type { Figure } from './support/figures.ts';
import { asList, freshName, HandMade } from './support/manifests.ts';
import { endpointOf, inTurn, MemberObserver, secondsOf } from './support/serving.ts';

/** Measures the time until a cluster of three has five voters: the operator, against a shell script. */
export async function threeBecomeFive(bed: Bed): Promise<readonly Figure[]> {
  using observer = new MemberObserver(bed);
  const taken = await inTurn(bed.pairs, {
    ours: () => oursGrows(bed, observer),
    byHand: () => grownByHand(bed, observer),
  });
  return [{ question: 'three members become five', limit: 1.3, ...taken }];
}

async function oursGrows(bed: Bed, observer: MemberObserver): Promise<number> {
  const name = freshName();
  const documents = [resource(bed, name)];
  await bed.kubectl('apply -f -', { input: asList(documents) });
  await settled(bed, name, 3);
  await waitUntilMembersCanBeAdded();
  const seconds = await secondsOf(async () => {
    await bed.kubectl(`scale ${bed.api.resource}/${name} --replicas=5`);
    await observer.serving(name, 5);
  });
  await cleanUp(bed, [name], documents);
  return seconds;
}

async function grownByHand(bed: Bed, observer: MemberObserver): Promise<number> {
  const made = new HandMade(bed, freshName(), threeMembers);
  await bed.kubectl('apply -f -', { input: asList(made.all()) });
  await observer.serving(made.name, 3);
  await bed.kubectl(`wait pods -l ${bed.api.label}=${made.name} --for=condition=Ready --timeout=120s`);
  await waitUntilMembersCanBeAdded();
  const endpoints = (await observer.podsOf(made.name)).map((pod) => endpointOf(pod).url).join(',');
  const joiningMembers = joiningMembersOf(made);
  using script = scriptFor(made, joiningMembers);
  const seconds = await secondsOf(async () => {
    await run(join(import.meta.dirname, 'grow-by-hand.sh'), script.words, { env: environment(bed, endpoints) });
    await observer.serving(made.name, 5);
  });
  await cleanUp(bed, [made.name], [...made.all(), ...joiningMembers]);
  return seconds;
}

/** The pods of the fourth and the fifth member, each with an initial cluster of all earlier members. */
function joiningMembersOf(made: HandMade): readonly object[] {
  const [fourth, fifth] = [3, 4].map((i) => `${made.name}-${i}` as MemberName) as [MemberName, MemberName];
  return [made.joiningMember([...made.members, fourth]), made.joiningMember([...made.members, fourth, fifth])];
}

function scriptFor(
  made: HandMade,
  joiningMembers: readonly object[],
): Disposable & { readonly words: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'grow-by-hand-'));
  const words = joiningMembers.map((pod, i) => {
    const name = `${made.name}-${3 + i}` as MemberName;
    const file = join(directory, `${name}.json`);
    writeFileSync(file, JSON.stringify(pod));
    return `${name}=${made.peerURLOf(name)}=${file}`;
  });
  return { words, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

const environment = ({ namespace }: Bed, endpoints: string): Readonly<Record<string, string>> => ({
  NAMESPACE: namespace,
  ETCDCTL_ENDPOINTS: endpoints,
  PATH: `${dirname(etcdProgram(threeMembers.version, 'etcdctl'))}:${process.env['PATH']}`,
});

if (import.meta.main) await runBenchmarks([threeBecomeFive]);
