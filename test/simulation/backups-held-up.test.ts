import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Killed, SimulatedBackups } from './simulated-backups.ts';

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

/** Some seconds, in which everybody does what is to be done. */
async function goOn(world: SimulatedBackups, seconds = 30): Promise<void> {
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

describe('a schedule whose backup cannot begin', () => {
  it('says why, and makes it as soon as its template is corrected, whenever the operator is killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.boolean(), async (writes, isLastDone) => {
        const world = hourlyWith('typo');
        world.now += hour;
        await goOn(world);
        expect(ofBackups(world)).toMatchObject({ phase: 'BackingUp', message: expect.stringContaining('"typo"') });
        const [progressing] = ofSchedule(world).conditions ?? [];
        expect(progressing).toMatchObject({ reason: 'BackupBlocked', message: expect.stringContaining('"typo"') });

        world.edit({ backupTemplate: template('right') });
        world.lifetime = { writes, isLastDone };
        await goOn(world, 60);
        expect(world.backups.size).toBe(1);
        expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
        expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
      }),
      { numRuns: 16 },
    );
  });

  it('makes the next in its place, and never has two', async () => {
    const world = hourlyWith('typo');
    for (let hours = 0; hours < 3; hours++) {
      world.now += hour;
      await goOn(world);
      expect(world.backups.size).toBe(1);
    }
    expect(new Set(world.made).size).toBe(3);
    world.missing.clear();
    await goOn(world);
    expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
  });
});

describe('what the API server does not let us create', () => {
  it.each(['pods', 'etcdbackups'])('is told, and made when it does: %s', async (plural) => {
    const world = hourlyWith('right');
    world.refused.add(plural);
    world.now += hour;
    await goOn(world);
    const [progressing] = ofSchedule(world).conditions ?? [];
    expect(progressing).toMatchObject({
      ...{ reason: 'BackupBlocked', message: expect.stringContaining(`${plural} are forbidden: exceeded quota`) },
    });
    expect(world.told).toContain('BackupBlocked');
    world.refused.clear();
    await goOn(world);
    expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
    expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
  });
});

it('a backup to a store where others can read along says so', async () => {
  for (const scheme of ['http', 'https']) {
    const world = hourlyWith('right');
    const { source, destination } = template('right');
    const objectURLTemplate = `${destination.objectURLTemplate}?endpoint=${scheme}://minio:9000`;
    world.edit({ backupTemplate: { source, destination: { ...destination, objectURLTemplate } } });
    world.now += hour;
    await goOn(world);
    expect(ofBackups(world)).toMatchObject({ phase: 'Completed' });
    expect(world.told.filter((reason) => reason === 'PlainHttp')).toHaveLength(scheme === 'http' ? 1 : 0);
  }
});

describe('a pod that cannot be stopped, because its node is lost', () => {
  it('is asked to go once, and does not keep later backups from being made', async () => {
    const world = hourlyWith('right');
    world.now += hour;
    while (ofBackups(world).phase !== 'Completed') await goOn(world, 3);
    world.isNodeLost = true;
    await goOn(world, 60);
    expect(world.pods.all().map(({ metadata }) => metadata.deletionTimestamp)).toEqual([expect.any(String)]);
    expect(new Set(world.askedToGo).size).toBe(world.askedToGo.length);
    world.now += hour;
    await goOn(world);
    expect(world.pods.all().map(({ metadata }) => metadata.deletionTimestamp)).toContain(undefined);
    expect(new Set(world.askedToGo).size).toBe(world.askedToGo.length);
  });
});

it('a backup that has ended stays as it was told, and is not made again, whatever becomes of its spec', async () => {
  const world = hourlyWith('right');
  world.now += hour;
  await goOn(world);
  const told = ofBackups(world);
  expect(told).toMatchObject({ phase: 'Completed' });
  const [backup] = world.backups.all();
  for (const spec of [{ destination: 'nonsense' }, backup?.spec]) {
    world.editBackups(spec);
    await goOn(world);
    expect(ofBackups(world)).toEqual(told);
  }
  expect(world.told).not.toContain('BadSpec');
  expect(world.pods.size).toBe(0);
});

it('a schedule is not silenced by a clock that was a month ahead once', async () => {
  const world = hourlyWith('right');
  world.now += 30 * day;
  await goOn(world);
  expect(world.made).toHaveLength(1);
  world.now = start + hour / 2;
  await goOn(world);
  expect(world.made).toHaveLength(1);
  world.now = start + hour;
  await goOn(world);
  expect(world.made).toHaveLength(2);
  expect(ofSchedule(world)).toMatchObject({ lastScheduleTime: '2026-01-01T01:00:00Z' });
});
