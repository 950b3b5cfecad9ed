import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

interface MemberState {
  readonly healthy?: boolean;
  readonly leader?: boolean;
}

async function nodesAreDown(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step, nodes } = context;
  const db = declaredIn(api)(kubectl);
  await installFor(api, context);
  await db.apply({ size: 3, version: '3.5.35', durable: true, pod: { ...api.apart } });
  await db.settled(3);
  const home = await kubectl('get pods -l name=etcd-operator -o jsonpath={.items[0].spec.nodeName}');
  const [first = '', second = ''] = nodes.names.filter((node) => node !== home);
  const states = async (): Promise<readonly MemberState[]> => {
    const status = (await db.status()) as { memberStatus?: MemberState[]; members?: MemberState[] };
    return status.memberStatus ?? status.members ?? [];
  };
  try {
    await step('one of three nodes is down: two members serve', async () => {
      await nodes.stop(first);
      const { reason, message } = await degradedWith(db, `${first} is NotReady`, 120);
      expect({ reason, message }).toEqual({
        reason: 'MembersUnreachable',
        message: `1 of 3 members unreachable: ${first} is NotReady`,
      });
      await eventsContain(kubectl, { reason: 'MembersUnreachable', type: 'Warning' }, [`${first} is NotReady`]);
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      expect((await states()).filter(({ healthy }) => healthy === true)).toHaveLength(2);
    });
    await step('two of three nodes are down: quorum is lost', async () => {
      await nodes.stop(second);
      const { reason, message } = await degradedWith(db, `${second} is NotReady`, 120);
      expect(reason).toBe('NoContact');
      expect(message).toContain('2 of 3 members unreachable');
      expect(message).not.toMatch(/ECONN|EHOST|ENET|http|\d+ ms/);
      await eventsContain(kubectl, { reason: 'NoContact', type: 'Warning' }, ['2 of 3 members unreachable']);
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'False' });
      await waitFor(kubectl, db.resource, inSeconds(30, condition('Progressing', 'False')));
      expect((await states()).filter(({ healthy, leader }) => healthy === true || leader === true)).toEqual([]);
      if (api === coreos) await waitFor(kubectl, db.resource, inSeconds(60, field('.status.phase', 'Failed')));
    });
  } finally {
    await step('the nodes are switched on again', async () => {
      for (const node of [first, second]) await nodes.start(node);
    });
  }
  await step('the cluster recovers without help', async () => {
    await db.settled(3, 180);
    await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    if (api === coreos) expect(await db.status()).toMatchObject({ phase: 'Running' });
  });
}

const title = 'NotReady nodes of unreachable members are named in the status and in a Warning';
story.withNodes(title, (context) => nodesAreDown(coreos, context));
story.withNodes(`${title}, in the improbable API`, (context) => nodesAreDown(improbable, context));
