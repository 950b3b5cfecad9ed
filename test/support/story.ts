import { randomBytes } from 'node:crypto';
import { test } from 'vitest';
import { collectEvidence } from './evidence.ts';
import { type Kubectl, kubectlIn } from './kubectl.ts';
import { type Nodes, nodesOf } from './nodes.ts';
import { here, ourCluster, type Where, whyNotHere } from './place.ts';

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
  const reason = whyNotHere(where, here());
  const runs = (): Promise<void> => tell(title, telling);
  if (reason !== undefined) leaveOut(title, reason);
  else if (process.env['STORIES'] === 'alone') test(title, runs);
  else test.concurrent(title, runs);
}

function leaveOut(title: string, reason: string): void {
  process.stdout.write(`left out: ${title} (${reason})\n`);
  test.skip(title);
}

async function tell(title: string, telling: Telling): Promise<void> {
  const namespace = `${slugOf(title).slice(0, 40)}-${randomBytes(3).toString('hex')}`;
  const kubectl = kubectlIn(namespace);
  await kubectl(`create namespace ${namespace}`);
  await kubectl('wait serviceaccount/default --for=create --timeout=30s');
  try {
    await telling({ namespace, kubectl, step: stepsOf(title), nodes: nodesOf(ourCluster()) });
  } catch (error) {
    await collectEvidence(slugOf(title), kubectl, error);
    throw error;
  } finally {
    await kubectl(`delete namespace ${namespace} --wait=false`);
  }
}

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
