import { expect } from 'vitest';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

interface MemberState {
  readonly healthy?: boolean;
  readonly leader?: boolean;
}

async function nodesAreDown(api: Api, told: Story): Promise<void> {
  const { kubectl, step, nodes } = told;
  const db = declaredIn(api)(kubectl);
  await installFor(api, told);
  await db.apply({ size: 3, version: '3.5.35', durable: true, pod: { ...api.apart } });
  await db.settled(3);
  const home = await kubectl('get pods -l name=etcd-operator -o jsonpath={.items[0].spec.nodeName}');
  const [first = '', second = ''] = nodes.names.filter((node) => node !== home);
  const states = async (): Promise<readonly MemberState[]> => {
    const status = (await db.status()) as { memberStatus?: MemberState[]; members?: MemberState[] };
    return status.memberStatus ?? status.members ?? [];
  };
  try {
    await step('one node of three: the others serve', async () => {
      await nodes.stop(first);
      const { reason, message } = await toldOf(db, `${first} is NotReady`, 120);
      expect({ reason, message }).toEqual({
        reason: 'MembersUnreachable',
        message: `1 of 3 members unreachable: ${first} is NotReady`,
      });
      await eventsSay(kubectl, { reason: 'MembersUnreachable', type: 'Warning' }, [`${first} is NotReady`]);
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      expect((await states()).filter(({ healthy }) => healthy === true)).toHaveLength(2);
    });
    await step('two nodes of three: no majority is left', async () => {
      await nodes.stop(second);
      const { reason, message } = await toldOf(db, `${second} is NotReady`, 120);
      expect(reason).toBe('NoContact');
      expect(message).toContain('2 of 3 members unreachable');
      expect(message).not.toMatch(/ECONN|EHOST|ENET|http|\d+ ms/);
      await eventsSay(kubectl, { reason: 'NoContact', type: 'Warning' }, ['2 of 3 members unreachable']);
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
  await step('all is well again by itself', async () => {
    await db.settled(3, 180);
    await waitFor(kubectl, db.resource, condition('Degraded', 'False'));
    if (api === coreos) expect(await db.status()).toMatchObject({ phase: 'Running' });
  });
}

const title = 'nodes that are down are named in the status and in a Warning';
story.withNodes(title, (told) => nodesAreDown(coreos, told));
story.withNodes(`${title}, in the API of the talk`, (told) => nodesAreDown(improbable, told));
