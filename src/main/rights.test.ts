import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { missingRights, neededRights, tellMissing } from './rights.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const role = parse(
  readFileSync(join(import.meta.dirname, '../../examples/coreos/etcd-operator-role.yaml'), 'utf8'),
) as { rules: readonly Rule[] };
const grantedBy = (rules: readonly Rule[]): readonly string[] =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
      ),
    )
    .toSorted();

describe('the rights of the operator', () => {
  it('are exactly those of the shipped Role', () => {
    expect(grantedBy(role.rules)).toEqual(
      neededRights.map(({ group, resource, verb }) => `${verb} ${resource}.${group}`).toSorted(),
    );
  });

  it('that are missing are told with what stays undone', async () => {
    const client = {
      review: async (_: unknown, { resourceAttributes }: never) => ({
        allowed: (resourceAttributes as { group: string }).group !== 'policy',
      }),
    };
    expect(tellMissing(await missingRights(client as never, { home: 'default', scope: 'default' }))).toEqual([
      'may not list poddisruptionbudgets.policy, watch poddisruptionbudgets.policy, create poddisruptionbudgets.policy, ' +
        'patch poddisruptionbudgets.policy, delete poddisruptionbudgets.policy: draining nodes may stop a majority',
    ]);
  });

  it('for locks are asked for at home, and all others where the clusters are', async () => {
    const asked: (readonly [string, string | undefined])[] = [];
    const client = {
      review: async (
        _: unknown,
        { resourceAttributes }: { resourceAttributes: { resource: string; namespace?: string } },
      ) => {
        asked.push([resourceAttributes.resource, resourceAttributes.namespace]);
        return { allowed: true };
      },
    };
    await missingRights(client as never, { home: 'here', scope: undefined });
    const places = (resource: string) => new Set(asked.filter(([name]) => name === resource).map(([, place]) => place));
    expect([places('leases'), places('endpoints'), places('pods')]).toEqual([
      new Set(['here']),
      new Set(['here']),
      new Set([undefined]),
    ]);
  });
});
