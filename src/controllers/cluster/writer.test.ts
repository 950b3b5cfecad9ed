import { describe, expect, it } from 'vitest';
import { pods } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { Expectations } from '../../runtime/expectations.ts';
import { writerFor } from './writer.ts';

function writerOf(agentNamespace?: string) {
  const written: string[] = [];
  const wrote = async (_: unknown, at: { namespace?: string; metadata?: { namespace?: string } }): Promise<never> => {
    written.push(at.namespace ?? at.metadata?.namespace ?? '');
    return { metadata: {} } as never;
  };
  const expectations = new Expectations({ clock, onExpired: () => undefined });
  const client = { create: wrote, patch: wrote, remove: wrote } as never;
  const writer = writerFor('tenant/db', {
    ...{ client, expectations, storeOf: () => undefined, onStatus: () => undefined },
    ...(agentNamespace === undefined ? {} : { agentNamespace }),
  });
  const all = (namespace: string): Promise<unknown> =>
    Promise.allSettled([
      writer.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0', namespace } }),
      writer.patch(pods, { name: 'db-0', namespace }, { type: 'merge', body: {} }),
      writer.remove(pods, { name: 'db-0', namespace }),
    ]);
  return { written, all };
}

describe('a writer for a resource', () => {
  it('writes in its namespace', async () => {
    const { written, all } = writerOf();
    await all('tenant');
    expect(written).toEqual(['tenant', 'tenant', 'tenant']);
  });

  it('refuses every write to an object of another namespace', async () => {
    const { written, all } = writerOf();
    expect(JSON.stringify(await all('attacker'))).not.toContain('fulfilled');
    expect(written).toEqual([]);
  });

  it('writes for agents in the namespace of the operator, too', async () => {
    const { written, all } = writerOf('operators');
    await all('operators');
    await all('attacker');
    expect(written).toEqual(['operators', 'operators', 'operators']);
  });
});
