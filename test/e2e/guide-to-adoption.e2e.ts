import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { guideReader } from '../support/guide-reader.ts';
import { installFor } from '../support/operator.ts';
import { originalOfCoreos } from '../support/original-coreos.ts';
import { createOriginal } from '../support/originals.ts';
import { story } from '../support/story.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

/** A Deployment with the name of the original operator. Its program does nothing: the original cannot run here. */
const originalDeployment = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'etcd-operator' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { name: 'original' } },
    template: {
      metadata: { labels: { name: 'original' } },
      spec: { containers: [{ name: 'etcd-operator', image: 'busybox', command: ['sleep', '3600'] }] },
    },
  },
});

story.asOnTheLab(
  'the commands of the adoption guide bring a cluster of the original under this operator',
  async (context) => {
    const { kubectl } = context;
    using reader = await guideReader(context);
    await kubectl('apply -f -', { input: originalDeployment });
    const db = await createOriginal(originalOfCoreos, { name: 'db', size: 1, version: '3.2.13' }, context);
    const page = 'Adopt a cluster of an original operator';
    await reader.follow('docs/guide/taking-over.md', {
      [page]: [
        { after: async () => expect(await fieldOf(kubectl, 'deployment/etcd-operator', '.spec.replicas')).toBe('0') },
        { after: (output) => expect(output).toMatch(/etcdclusters.etcd.database.coreos.com serverside-applied/) },
        {
          before: async () => {
            await kubectl('delete deployment etcd-operator');
            await installFor(originalOfCoreos.api, context);
            await waitFor(kubectl, db.resource, inSeconds(120, field('.status.clusterId')));
          },
          after: (output) =>
            expect(output).toMatch(/ TakingOver +etcdcluster\/db +Adopted member db-\w+ from another operator/),
        },
      ],
    });
    await db.settled(1);
  },
);
