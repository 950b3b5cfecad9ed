import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { type ClusterSpec, declaredIn } from '../support/cluster.ts';
import { guideReader } from '../support/guide-reader.ts';
import { imageUnderTest, installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const withOneMember: ClusterSpec = { size: 1, version: '3.5.35' };

/** The revision in the output of `etcdctl endpoint status --write-out=json`. */
const revisionIn = (status: string): string => /"revision":(\d+)/.exec(status)?.[1] ?? '';

const isPut = (output: string): void => expect(output).toMatch(/^OK/);

story.asOnTheLab('the commands of the guides for daily work do what the guides say', async (context) => {
  const { kubectl } = context;
  using reader = await guideReader(context);
  await installForBoth(context);
  /** Creates a cluster that a page assumes, with one member. */
  const create = async (api: Api, name: string, spec: Partial<ClusterSpec> = {}): Promise<void> => {
    const cluster = declaredIn(api)(kubectl, name);
    await cluster.apply({ ...withOneMember, ...spec });
    await cluster.settled(1);
  };
  const member = async (): Promise<string> => (await declaredIn(coreos)(kubectl).podNames())[0] ?? '';
  /** Waits for a value of the status, which follows a moment after a change of the spec. */
  const shows = async (resource: string, path: string, value: string): Promise<void> => {
    const shown = (): Promise<string> => kubectl(`get ${resource} -o 'jsonpath={${path}}'`);
    await until(`${path} is ${value}`, async () => (await shown()) === value || undefined, { seconds: 30 });
  };

  await create(coreos, 'db', { durable: true });
  await create(improbable, 'my-etcd');
  await reader.follow('docs/guide/connect.md', {
    Endpoints: [{ after: isPut }, { after: isPut }],
  });
  await reader.follow('docs/guide/day-2.md', {
    'Look at a cluster': { after: (output) => expect(output).toMatch(/^\{.*"cluster":/m) },
    'Writes fail, reads work': {
      before: async () => {
        const status = await kubectl(`exec ${await member()} -c etcd -- etcdctl endpoint status --write-out=json`);
        return { '<member>': await member(), '<revision>': revisionIn(status) };
      },
      after: (output) => expect(output).toMatch(/compacted revision \d+[\s\S]*Finished defragmenting/),
    },
  });
  await reader.follow('docs/guide/upgrades.md', {
    'Upgrades and other changes': [
      {
        before: () => create(coreos, 'example-etcd-cluster', { version: '3.4.31' }),
        after: () => shows('etcdcluster/example-etcd-cluster', '.status.currentVersion', '3.7.3'),
      },
      { after: () => shows('etcdclusters.etcd.improbable.io/my-etcd', '.status.serverVersion', '3.7.3') },
    ],
    'A new operator': { before: async () => ({ '<image of the new version>': imageUnderTest() }) },
  });
  await reader.follow('docs/guide/volumes.md', {
    'What deleting deletes': {
      before: () => create(coreos, 'example', { durable: true }),
      after: (output) => expect(output).toMatch(/^NAME +OWNER\nexample-/m),
    },
  });
});

story.asOnTheLab('the commands of the lab guide back up and restore clusters of both APIs', async (context) => {
  const { kubectl } = context;
  using reader = await guideReader(context);
  await installForBoth(context);
  const example = declaredIn(coreos)(kubectl, 'example-etcd-cluster');
  await example.apply(withOneMember);
  await example.settled(1);
  await reader.follow('docs/guide/lab.md');
  await declaredIn(improbable)(kubectl, 'my-etcd-again').settled(3);
});
