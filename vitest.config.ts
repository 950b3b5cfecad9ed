import { defineConfig } from 'vitest/config';
import { runAloneOnTheLab, runOnTheLab } from './test/support/lab-story-files.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/** The full run gives every file a process of its own. Without that, loading the same sources again is most of the work. */
const isolate = process.env['ISOLATED'] === '1';

/** Each rung of tests is a project: what it needs is in its name, never in a switch inside a test. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // A machine that does other things as well is slow to load a large library, and to come round to a timer.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 30_000 } },
          isolate,
          maxWorkers: 2,
          setupFiles: ['test/support/fixed-seed.ts'],
          include: [
            '{src,lab,tools,bench,test/support,test/simulation,test/simulator,test/chaos}/**/*.test.ts',
            'test/*.test.ts',
          ],
        },
      },
      {
        // Machine-made objects on the lab's API server, in one process: see FUZZ_OBJECTS and FUZZ_SEED.
        test: {
          name: 'fuzz',
          include: ['test/fuzz/*.test.ts'],
          testTimeout: 3_600_000,
          hookTimeout: 60_000,
          isolate,
        },
      },
      {
        // Needs root: brings test clusters up and down, and breaks them in between.
        test: {
          name: 'cluster',
          include: ['test/cluster/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
      {
        // Real etcd processes of every version; most of their time they wait, so many may do so at once.
        test: {
          name: 'etcd',
          include: ['test/integration/etcd*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 5,
          // Every version at once.
          maxConcurrency: 8,
        },
      },
      {
        // Servers of object stores, and the agents that speak to them.
        test: {
          name: 'stores',
          include: ['test/integration/{stores,agents}*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          maxWorkers: 2,
        },
      },
      {
        // The lab as an ordinary user: whole, and its nodes against a real kube-apiserver that has none.
        test: {
          name: 'lab',
          include: ['test/lab/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        // The API server that KUBECONFIG leads to.
        test: {
          name: 'integration',
          include: ['test/integration/*.test.ts'],
          // What any API server does is the contract's.
          exclude: [
            'test/integration/{etcd,stores,agents,crd,runtime}*.test.ts',
            'test/integration/kube-{access,client,connection,custom}*.test.ts',
          ],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // What an API server does: asked of the lab's own, or of the one that KUBECONFIG leads to.
        test: {
          name: 'contract',
          include: ['test/contract/*.test.ts', 'test/integration/{crd,kube,runtime}*.test.ts'],
          // Needs a node that runs pods.
          exclude: ['test/integration/kube-port-forward.test.ts'],
          globalSetup: ['test/contract/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Each file has a namespace of its own, and names of its own for what is not in one.
          maxWorkers: 3,
          isolate,
        },
      },
      {
        // Stories that do not disturb each other, each in a namespace of its own.
        test: {
          name: 'stories',
          include: ['test/e2e/**/*.e2e.ts'],
          exclude: ['test/e2e/**/*.alone.e2e.ts'],
          testTimeout: 1_200_000,
          isolate,
          maxWorkers: 4,
          maxConcurrency: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Stories that change what all share: nodes, custom resource definitions.
        test: {
          name: 'stories alone',
          include: ['test/e2e/**/*.alone.e2e.ts'],
          testTimeout: 1_200_000,
          fileParallelism: false,
          env: { STORIES: 'alone' },
          sequence: { groupOrder: 1 },
        },
      },
      {
        // The same stories on the lab, as an ordinary user; and what can be said of a node by its API server.
        test: {
          name: 'stories on the lab',
          include: [
            ...runOnTheLab.map((name) => `test/e2e/${name}.e2e.ts`),
            'test/integration/kube-port-forward.test.ts',
          ],
          globalSetup: ['test/support/stories-lab.ts'],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          // A story waits for most of its time. Each worker tells one at a time, so that its processor time can be counted.
          isolate,
          maxWorkers: 6,
          maxConcurrency: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'stories alone on the lab',
          include: runAloneOnTheLab.map((name) => `test/e2e/${name}.alone.e2e.ts`),
          globalSetup: ['test/support/stories-lab.ts'],
          testTimeout: 600_000,
          fileParallelism: false,
          env: { STORIES: 'alone' },
          sequence: { groupOrder: 1 },
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
    disableConsoleIntercept: true,
  },
});
