import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { until } from '../support/until.ts';

async function pins(api: Api, told: Story): Promise<void> {
  const { kubectl, step } = told;
  const db = declaredIn(api)(kubectl);
  const wish = (version: string): Promise<string> =>
    kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${version}"}}'`);
  const images = async (): Promise<readonly string[]> =>
    (await shown(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image')).split(' ');
  const allRun = (tail: string): Promise<unknown> =>
    until(
      `every pod has the image ${tail}`,
      async () => (await images()).every((each) => each.endsWith(tail)) || undefined,
      {
        seconds: 240,
      },
    );

  await installFor(api, told);
  await db.apply({ size: 3, version: '3.5.35', durable: true });
  await db.settled(3);
  const members = await db.ids();
  const digest = await digestOf(told, db);
  await step('its digest rolls the members, and the status shows the version without it', async () => {
    await wish(`3.5.35@${digest}`);
    await allRun(`:v3.5.35@${digest}`);
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
    expect((await db.status())[api.status.version]).toBe('3.5.35');
  });
  await step('a way over another minor is refused, and nothing is touched', async () => {
    await wish(`3.7.3@${digest}`);
    await toldOf(db, 'leads over 3.6.16', 60);
    expect(new Set((await images()).map((image) => image.split(':v')[1]))).toEqual(new Set([`3.5.35@${digest}`]));
  });
  await step('the next minor by tag is reached by the same members', async () => {
    await wish('3.6.16');
    await allRun(':v3.6.16');
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
  });
}

/** The digest of the image that members run. The lab has no registry, and takes any. */
async function digestOf({ kubectl }: Story, { label }: DeclaredCluster): Promise<string> {
  const ids = await shown(kubectl, `pods -l ${label}`, '.status.containerStatuses[0].imageID');
  const [known] = /sha256:[0-9a-f]{64}/.exec(ids) ?? [];
  return known ?? `sha256:${createHash('sha256').update(ids).digest('hex')}`;
}

story.asOnTheLab('an image pinned by digest is run by all members, and by no other version', async (told) => {
  await pins(coreos, told);
  await told.step('Events show versions without the digest', () =>
    eventsSay(told.kubectl, { reason: 'Member Upgraded' }, ['upgraded from 3.5.35 to 3.6.16 ']),
  );
});
story.asOnTheLab('numbered members run an image pinned by digest', (told) => pins(improbable, told));
