import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { until } from '../support/until.ts';

async function runsPinnedImage(api: Api, context: StoryContext): Promise<void> {
  const { kubectl, step } = context;
  const db = declaredIn(api)(kubectl);
  const setVersion = (version: string): Promise<string> =>
    kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${version}"}}'`);
  const images = async (): Promise<readonly string[]> =>
    (await fieldOf(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image')).split(' ');
  const allRun = (tail: string): Promise<unknown> =>
    until(
      `every pod has the image ${tail}`,
      async () => (await images()).every((each) => each.endsWith(tail)) || undefined,
      {
        seconds: 240,
      },
    );

  await installFor(api, context);
  await db.apply({ size: 3, version: '3.5.35', durable: true });
  await db.settled(3);
  const members = await db.ids();
  const digest = await digestOf(context, db);
  await step('the digest is rolled out, and the status shows the version without it', async () => {
    await setVersion(`3.5.35@${digest}`);
    await allRun(`:v3.5.35@${digest}`);
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
    expect((await db.status())[api.status.version]).toBe('3.5.35');
  });
  await step('a pinned upgrade that skips a minor version is refused, and no pod is changed', async () => {
    await setVersion(`3.7.3@${digest}`);
    await degradedWith(db, 'needs the intermediate version 3.6.16', 60);
    expect(new Set((await images()).map((image) => image.split(':v')[1]))).toEqual(new Set([`3.5.35@${digest}`]));
  });
  await step('an upgrade by tag to the next minor version keeps the members', async () => {
    await setVersion('3.6.16');
    await allRun(':v3.6.16');
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
  });
}

/** The image digest of the members. The lab has no registry and accepts any digest. */
async function digestOf({ kubectl }: StoryContext, { label }: DeclaredCluster): Promise<string> {
  const ids = await fieldOf(kubectl, `pods -l ${label}`, '.status.containerStatuses[0].imageID');
  const [known] = /sha256:[0-9a-f]{64}/.exec(ids) ?? [];
  return known ?? `sha256:${createHash('sha256').update(ids).digest('hex')}`;
}

story.asOnTheLab('an image pinned by digest is rolled out to all members', async (context) => {
  await runsPinnedImage(coreos, context);
  await context.step('Events show versions without the digest', () =>
    eventsContain(context.kubectl, { reason: 'Member Upgraded' }, ['upgraded from 3.5.35 to 3.6.16 ']),
  );
});
story.asOnTheLab('an image pinned by digest is rolled out to all members, in the improbable API', (context) =>
  runsPinnedImage(improbable, context),
);
