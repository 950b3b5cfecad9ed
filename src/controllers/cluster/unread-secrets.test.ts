import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, withIntent } from '../../../test/support/worlds.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { Deed } from './deed.ts';
import { leftSecrets } from './left-secrets.ts';
import { observe, safeguardOf } from './observe.ts';
import { perform } from './perform.ts';
import type { Tools } from './sources.ts';

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
const toolsWith = (more: object): Tools =>
  ({
    ...{ dialect: coreos, caches: { pods: nothing, claims: nothing }, now: () => new Date(0), randomName: String },
    ...{
      keepsSecrets: true,
      dropsSecrets: true,
      etcd: { keepOnly: () => undefined },
      tidied: new Map(),
      client: failing,
      ...more,
    },
  }) as unknown as Tools;

const seen = (spec: object, more: object = {}) => observe(readOf(spec), toolsWith(more), new AbortController().signal);

describe('a Secret of certificates that cannot be read', () => {
  it('is a problem that is reported, and no pod is made or stopped that has to mount it', async () => {
    const observed = await seen({ TLS: { managed: {} } });
    const says = 'Secret db-member-tls cannot be read: get secrets: KMS is down';
    expect(observed).toMatchObject({ unreadSecret: says, planes: { peer: 'encrypted', client: 'encrypted' } });
    expect(observed.world.secretProblems).toContain(says);
    const deed = { observed, tools: toolsWith({}) } as unknown as Deed;
    const name = nameOf('db-0');
    const start = perform({ kind: 'start-carrier', name, version: '3.5.35', join: { as: 'returner' } }, deed);
    await expect(start).rejects.toThrow(says);
    await expect(perform({ kind: 'stop-carrier', name, uid: 'x' }, deed)).rejects.toThrow(says);
  });

  it('holds up nothing where members serve without TLS', async () => {
    expect(await seen({})).toMatchObject({ unreadSecret: undefined, world: { secretProblems: [] } });
  });

  it('is not looked for among those that are left over', async () => {
    const { world } = await seen({});
    expect(world.leftSecrets).toEqual([]);
    const tools = toolsWith({});
    expect(await leftSecrets(readOf({}), { idle: ['peer', 'server', 'operator'] }, tools)).toEqual([]);
    expect(tools.tidied.size).toBe(0);
  });
});

it('a pre-upgrade backup that cannot be read holds up the upgrade, and nothing else', async () => {
  const world = aWorld(withIntent({ version: '3.6.16' }));
  const safeguard = await safeguardOf(readOf({ backupBeforeUpgrade: { like: 'nightly' } }), world, toolsWith({}));
  expect(safeguard).toEqual({ name: 'db-before-3.6.16', state: 'under-way', why: 'get secrets: KMS is down' });
});
