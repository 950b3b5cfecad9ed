import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedBackups } from './simulated-backups.ts';
import { Killed } from './simulated-objects.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const hour = 3_600_000;
const day = 24 * hour;

const template = (credentialsSecret: string) => ({
  source: { clusterURL: 'http://db:2379' },
  destination: { objectURLTemplate: 's3://bucket/{{ .UID }}.db', credentialsSecret },
});

function hourlyWith(secret: string): SimulatedBackups {
  const world = new SimulatedBackups(start);
  world.create(world.schedules, {
    ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdBackupSchedule' },
    metadata: { name: 'hourly', namespace: 'tenant' },
    spec: { schedule: '@every 1h', backupTemplate: template(secret) },
  });
  world.missing.add('typo');
  return world;
}

/** Advances the simulation by some seconds; restarts the operator if it is killed. */
async function advance(world: SimulatedBackups, seconds = 30): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    world.now += 3_000;
    world.work();
    await world.pass().catch((thrown: unknown) => {
      if (!(thrown instanceof Killed)) throw thrown;
      world.lifetime = { writes: Number.POSITIVE_INFINITY, isLastDone: true };
    });
  }
}

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly lastScheduleTime?: string;
  readonly conditions?: readonly { readonly reason?: string; readonly message?: string }[];
}
const statusOf = (those: readonly { readonly status?: unknown }[]): Status => those.at(-1)?.status ?? {};
const ofBackups = (world: SimulatedBackups): Status => statusOf(world.backups.all());
const ofSchedule = (world: SimulatedBackups): Status => statusOf(world.schedules.all());

describe('a schedule with a blocked backup', () => {
  it('reports why and makes the backup once its template is corrected, wherever the operator is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.boolean(), async (writes, isLastDone) => {
        const world = hourlyWith('typo');
        world.now += hour;
        await advance(world);
        expect(ofBackups(world)).toMatchObject({ phase: 'BackingUp', message: expect.stringContaining('"typo"') });
        const [progressing] = ofSchedule(world).conditions ?? [];
        expect(progressing).toMatchObject({ reason: 'BackupBlocked', message: expect.stringContaining('"typo"') });

        world.edit({ backupTemplate: template('right') });
        world.lifetime = { writes, isLastDone };
        await advance(world, 60);
        expect(world.backups.size).toBe(1);
        expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
        expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
      }),
      { numRuns: 16 },
    );
  });

  it('replaces the blocked backup at the next scheduled time and never has two', async () => {
    const world = hourlyWith('typo');
    for (let hours = 0; hours < 3; hours++) {
      world.now += hour;
      await advance(world);
      expect(world.backups.size).toBe(1);
    }
    expect(new Set(world.createdBackups).size).toBe(3);
    world.missing.clear();
    await advance(world);
    expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
  });
});

describe('a schedule with an exceeded quota', () => {
  it.each(['pods', 'etcdbackups'])(
    'reports BackupBlocked and makes the backup once the quota allows it: %s',
    async (plural) => {
      const world = hourlyWith('right');
      world.refused.add(plural);
      world.now += hour;
      await advance(world);
      const [progressing] = ofSchedule(world).conditions ?? [];
      expect(progressing).toMatchObject({
        ...{ reason: 'BackupBlocked', message: expect.stringContaining(`${plural} are forbidden: exceeded quota`) },
      });
      expect(world.eventReasons).toContain('BackupBlocked');
      world.refused.clear();
      await advance(world);
      expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
      expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
    },
  );
});

it('a backup to a store over plain http records the Event PlainHttp', async () => {
  for (const scheme of ['http', 'https']) {
    const world = hourlyWith('right');
    const { source, destination } = template('right');
    const objectURLTemplate = `${destination.objectURLTemplate}?endpoint=${scheme}://minio:9000`;
    world.edit({ backupTemplate: { source, destination: { ...destination, objectURLTemplate } } });
    world.now += hour;
    await advance(world);
    expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
    expect(world.eventReasons.filter((reason) => reason === 'PlainHttp')).toHaveLength(scheme === 'http' ? 1 : 0);
  }
});

describe('an agent pod on a lost node', () => {
  it('is deleted once and does not block later backups', async () => {
    const world = hourlyWith('right');
    world.now += hour;
    while (ofBackups(world).phase !== 'Completed') await advance(world, 3);
    world.isNodeLost = true;
    await advance(world, 60);
    expect(world.pods.all().map(({ metadata }) => metadata.deletionTimestamp)).toEqual([expect.any(String)]);
    expect(new Set(world.deletedPodUids).size).toBe(world.deletedPodUids.length);
    world.now += hour;
    await advance(world);
    expect(world.pods.all().map(({ metadata }) => metadata.deletionTimestamp)).toContain(undefined);
    expect(new Set(world.deletedPodUids).size).toBe(world.deletedPodUids.length);
  });
});

it('a finished backup keeps its status and is not repeated when its spec changes', async () => {
  const world = hourlyWith('right');
  world.now += hour;
  await advance(world);
  const finished = ofBackups(world);
  expect(finished).toMatchObject({ phase: 'Completed' });
  const [backup] = world.backups.all();
  for (const spec of [{ destination: 'nonsense' }, backup?.spec]) {
    world.editBackups(spec);
    await advance(world);
    expect(ofBackups(world)).toEqual(finished);
  }
  expect(world.eventReasons).not.toContain('BadSpec');
  expect(world.pods.size).toBe(0);
});

it('a schedule goes on after the clock was a month ahead and is corrected', async () => {
  const world = hourlyWith('right');
  world.now += 30 * day;
  await advance(world);
  expect(world.createdBackups).toHaveLength(1);
  world.now = start + hour / 2;
  await advance(world);
  expect(world.createdBackups).toHaveLength(1);
  world.now = start + hour;
  await advance(world);
  expect(world.createdBackups).toHaveLength(2);
  expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
});
