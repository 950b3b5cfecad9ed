import { describe, expect, it } from 'vitest';
import { aKnownWorld, nameOf, withIntent } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { perform } from '../act/perform.ts';
import type { StepContext } from '../act/step-context.ts';
import { observe, preUpgradeBackupOrFailure } from '../observe/observe.ts';
import { obsoleteSecrets } from './obsolete-secrets.ts';

const isDown = new ApiFailure('unreachable', 'get secrets: KMS is down');
const failing = { get: () => Promise.reject(isDown) };
const metadata = { name: 'db', namespace: 'default', uid: 'u' };
const status = { clusterId: 'c1', bootstrap: { members: ['db-0'], token: 't' } };

function readOf(spec: object) {
  const read = coreos.read({ metadata, spec: { size: 1, version: '3.5.35', ...spec }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

const nothing = { by: () => [], get: () => undefined };
const contextWith = (more: object): ControllerContext =>
  ({
    ...{ dialect: coreos, caches: { pods: nothing, claims: nothing }, now: () => new Date(0), randomName: String },
    ...{
      mayWriteSecrets: true,
      mayDeleteSecrets: true,
      etcd: { keepOnly: () => undefined },
      absentSecrets: new Map(),
      client: failing,
      ...more,
    },
  }) as unknown as ControllerContext;

const seen = (spec: object, more: object = {}) =>
  observe(readOf(spec), contextWith(more), new AbortController().signal);

describe('a TLS Secret that cannot be read', () => {
  it('is reported, and blocks the start and stop of pods that mount it', async () => {
    const observed = await seen({ TLS: { managed: {} } });
    const problem = 'Secret db-member-tls cannot be read: get secrets: KMS is down';
    expect(observed).toMatchObject({ unreadSecret: problem, tlsModes: { peer: 'encrypted', client: 'encrypted' } });
    expect(observed.world.secretProblems).toContain(problem);
    const step = { observed, controller: contextWith({}) } as unknown as StepContext;
    const name = nameOf('db-0');
    const start = perform({ kind: 'start-member-pod', name, version: '3.5.35', join: { as: 'restarting' } }, step);
    await expect(start).rejects.toThrow(problem);
    await expect(perform({ kind: 'stop-member-pod', name, uid: 'x' }, step)).rejects.toThrow(problem);
  });

  it('blocks nothing in a plaintext cluster', async () => {
    expect(await seen({})).toMatchObject({ unreadSecret: undefined, world: { secretProblems: [] } });
  });

  it('is not reported as obsolete', async () => {
    const { world } = await seen({});
    expect(world.obsoleteSecrets).toEqual([]);
    const context = contextWith({});
    expect(await obsoleteSecrets(readOf({}), { idle: ['peer', 'server', 'operator'] }, context)).toEqual([]);
    expect(context.absentSecrets.size).toBe(0);
  });
});

it('a pre-upgrade backup that cannot be read counts as under way, and blocks only the upgrade', async () => {
  const world = aKnownWorld(withIntent({ version: '3.6.16' }));
  const preUpgradeBackup = await preUpgradeBackupOrFailure(
    readOf({ backupBeforeUpgrade: { like: 'nightly' } }),
    world,
    contextWith({}),
  );
  expect(preUpgradeBackup).toEqual({ name: 'db-before-3.6.16', state: 'under-way', why: 'get secrets: KMS is down' });
});
