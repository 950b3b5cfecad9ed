import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'vitest';
import { createNamespace, deleteNamespace } from './api.ts';
import { collectEvidence } from './evidence.ts';
import { type Kubectl, kubectlIn } from './kubectl.ts';
import { type Nodes, nodesOf } from './nodes.ts';
import { here, ourCluster, type Where, whyNotHere } from './place.ts';
import { declare, isReading } from './story-catalog.ts';
import { StoryCpu } from './story-cpu.ts';
import { isOutOfTime, record, whyNotNow } from './story-turns.ts';

export interface Story {
  /** The story's own namespace; it is gone when the story has ended. */
  readonly namespace: string;
  readonly kubectl: Kubectl;
  /** Names a part of the story in the output, with the time it took. */
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  /** Stops and starts nodes, in `story.withNodes`; cuts them off, only in `story.onOurCluster`. */
  readonly nodes: Nodes;
}

type Telling = (story: Story) => Promise<void>;

/**
 * One user story, in a namespace of its own, side by side with the others: on the lab, and on a real cluster. A story that
 * changes what all share (nodes, custom resource definitions) is told in a file named `*.alone.e2e.ts`, and has the place to
 * itself.
 */
export const story = Object.assign((title: string, telling: Telling) => plan('everywhere', title, telling), {
  /** A story that takes too long for whoever is in a hurry. */
  inFull: (title: string, telling: Telling): void => plan('in full', title, telling),
  /** A story that a cluster tells no better than the lab does: where both are asked in a row, the lab's word is enough. */
  asOnTheLab: (title: string, telling: Telling): void => plan('as on the lab', title, telling),
  /** A story that is too long for the lab, or needs what the lab has not. */
  onClusters: (title: string, telling: Telling): void => plan('on clusters', title, telling),
  /** A story that stops nodes, which can be done to the lab's and to those of our own test cluster. */
  withNodes: (title: string, telling: Telling): void => plan('with nodes', title, telling),
  /** A story that cuts nodes off, or reads a file of the control plane, and so is left out on any other cluster. */
  onOurCluster: (title: string, telling: Telling): void => plan('on our cluster', title, telling),
});

function plan(where: Where, title: string, telling: Telling): void {
  if (isReading()) return declare(title, where);
  const reason = whyNotHere(where, here()) ?? whyNotNow(title);
  const runs = (context: TestContext): Promise<void> => tellInTime(title, telling, context);
  if (reason !== undefined) leaveOut(title, reason);
  else if (process.env['STORIES'] === 'alone') test(title, runs);
  else test.concurrent(title, runs);
}

function leaveOut(title: string, reason: string): void {
  process.stdout.write(`left out: ${title} (${reason})\n`);
  test.skip(title);
}

async function tellInTime(title: string, telling: Telling, context: TestContext): Promise<void> {
  if (isOutOfTime(title)) {
    process.stdout.write(`left out: ${title} (out of time)\n`);
    return context.skip('out of time');
  }
  const namespace = `${slugOf(title).slice(0, 40)}-${randomBytes(3).toString('hex')}`;
  const [began, cpu] = [performance.now(), new StoryCpu(namespace)];
  const ends = (failure?: unknown): void =>
    record({ title, failure, wallSeconds: (performance.now() - began) / 1000, cpuSeconds: cpu.total() });
  try {
    await tell(title, telling, namespace);
    ends();
  } catch (error) {
    ends(error);
    throw error;
  }
}

async function tell(title: string, telling: Telling, namespace: string): Promise<void> {
  const kubectl = kubectlIn(namespace);
  await createNamespace(namespace);
  try {
    await telling({ namespace, kubectl, step: stepsOf(title), nodes: nodesOf(ourCluster()) });
  } catch (error) {
    await collectEvidence(`${slugOf(title)}${attempt()}`, kubectl, error);
    throw error;
  } finally {
    await deleteNamespace(namespace);
  }
}

/** What a story left that is told again is kept beside what it left before. */
const attempt = (): string => (process.env['STORIES_ATTEMPT'] === '2' ? '-told-again' : '');

const stepsOf =
  (storyTitle: string): Story['step'] =>
  async (title, work) => {
    const began = performance.now();
    const told = (mark: string): void => {
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(`  ${mark} ${storyTitle}: ${title} (${seconds} s)\n`);
    };
    try {
      const result = await work();
      told('✓');
      return result;
    } catch (error) {
      told('✗');
      throw error;
    }
  };

export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
