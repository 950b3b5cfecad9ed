import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'vitest';
import { createNamespace, deleteNamespace } from './api.ts';
import { collectEvidence } from './evidence.ts';
import { type Kubectl, kubectlIn } from './kubectl.ts';
import { type Nodes, nodesOf } from './nodes.ts';
import { currentPlace, ourCluster, skipReasonIn, type Where } from './place.ts';
import { declare, isReading } from './story-catalog.ts';
import { StoryCpu } from './story-cpu.ts';
import { isOutOfTime, record, skipReasonNow } from './story-turns.ts';

export interface StoryContext {
  /** The namespace of the story. It is deleted at the end of the story. */
  readonly namespace: string;
  readonly kubectl: Kubectl;
  /** Runs a part of the story, and prints its title and duration. */
  readonly step: <T>(title: string, work: () => Promise<T>) => Promise<T>;
  /** Stops and starts nodes (`story.withNodes`); partitions them (`story.onOurCluster` only). */
  readonly nodes: Nodes;
}

type StoryBody = (context: StoryContext) => Promise<void>;

/**
 * Declares a user story. It runs in its own namespace, concurrently with other stories, on the lab and on a real cluster. A story
 * that changes shared objects (nodes, CRDs) is in a file named `*.alone.e2e.ts`, and runs alone.
 */
export const story = Object.assign((title: string, body: StoryBody) => plan('everywhere', title, body), {
  /** A story that is too long for a short run. */
  inFull: (title: string, body: StoryBody): void => plan('in full', title, body),
  /** A story for which the lab is as good as a real cluster: a check on both runs it on the lab only. */
  asOnTheLab: (title: string, body: StoryBody): void => plan('as on the lab', title, body),
  /** A story that is too long for the lab, or needs a feature that the lab lacks. */
  onClusters: (title: string, body: StoryBody): void => plan('on clusters', title, body),
  /** A story that stops nodes: it runs on the lab and on our test cluster. */
  withNodes: (title: string, body: StoryBody): void => plan('with nodes', title, body),
  /** A story that partitions nodes or reads files of the control plane: it runs on our test cluster only. */
  onOurCluster: (title: string, body: StoryBody): void => plan('on our cluster', title, body),
});

function plan(where: Where, title: string, body: StoryBody): void {
  if (isReading()) return declare(title, where);
  const reason = skipReasonIn(where, currentPlace()) ?? skipReasonNow(title);
  const execute = (context: TestContext): Promise<void> => runUntilDeadline(title, body, context);
  if (reason !== undefined) leaveOut(title, reason);
  else if (process.env['STORIES'] === 'alone') test(title, execute);
  else test.concurrent(title, execute);
}

function leaveOut(title: string, reason: string): void {
  process.stdout.write(`left out: ${title} (${reason})\n`);
  test.skip(title);
}

async function runUntilDeadline(title: string, body: StoryBody, context: TestContext): Promise<void> {
  if (isOutOfTime(title)) {
    process.stdout.write(`left out: ${title} (out of time)\n`);
    return context.skip('out of time');
  }
  const namespace = `${slugOf(title).slice(0, 40)}-${randomBytes(3).toString('hex')}`;
  const [began, cpu] = [performance.now(), new StoryCpu(namespace)];
  const recordEnd = (failure?: unknown): void =>
    record({ title, failure, wallSeconds: (performance.now() - began) / 1000, cpuSeconds: cpu.total() });
  try {
    await run(title, body, namespace);
    recordEnd();
  } catch (error) {
    recordEnd(error);
    throw error;
  }
}

async function run(title: string, body: StoryBody, namespace: string): Promise<void> {
  const kubectl = kubectlIn(namespace);
  await createNamespace(namespace);
  try {
    await body({ namespace, kubectl, step: stepsOf(title), nodes: nodesOf(ourCluster()) });
  } catch (error) {
    await collectEvidence(`${slugOf(title)}${attempt()}`, kubectl, error);
    throw error;
  } finally {
    await deleteNamespace(namespace);
  }
}

/** The suffix of the evidence of a second attempt, so that the evidence of the first is kept. */
const attempt = (): string => (process.env['STORIES_ATTEMPT'] === '2' ? '-second-attempt' : '');

const stepsOf =
  (storyTitle: string): StoryContext['step'] =>
  async (title, work) => {
    const began = performance.now();
    const print = (symbol: string): void => {
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(`  ${symbol} ${storyTitle}: ${title} (${seconds} s)\n`);
    };
    try {
      const result = await work();
      print('✓');
      return result;
    } catch (error) {
      print('✗');
      throw error;
    }
  };

export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
