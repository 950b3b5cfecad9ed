import { describe, expect, it } from 'vitest';
import type { ClusterDialect } from '../../apis/common/dialect.ts';
import { withoutPlaintextWarning } from '../../apis/common/restrictions.ts';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import { statusOf } from '../../core/cluster/status/cluster-status.ts';
import { plaintextIn, withPlaintext } from '../../core/cluster/status/plaintext.ts';
import { recordPlaintextEvent } from './plaintext-event.ts';

const secrets = { member: { peerSecret: 'p', serverSecret: 's' }, operatorSecret: 'o' };

const apis = {
  coreos: { dialect: coreos, size: { size: 1 }, tls: 'TLS' },
  improbable: { dialect: improbable, size: { replicas: 1 }, tls: 'tls' },
} as const;

describe.each(['coreos', 'improbable'] as const)('a cluster of the %s API', (name) => {
  const { dialect, size, tls } = apis[name];
  const objectWith = (annotations = {}, spec = {}) => ({
    apiVersion: `${dialect.group}/${dialect.version}`,
    kind: dialect.kind,
    metadata: { name: 'db', namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations },
    spec: { ...size, version: '3.5.35', ...spec },
  });
  const blueprintOf = (object: object, by: ClusterDialect = dialect) => {
    const read = by.read(object);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    return read.value.blueprint;
  };

  it('without TLS has the condition Secured=False, is not Degraded, and has one Event', () => {
    const object = objectWith();
    const blueprint = blueprintOf(object);
    const world = {
      ...{ now: 0, intent: blueprint.intent, memberPods: [], secretProblems: [], spareNames: [] },
      memory: { bootstrap: undefined, clusterId: undefined, voters: [], version: undefined },
      membership: { seen: false, why: '' },
    } as unknown as Parameters<typeof statusOf>[0];
    const status = withPlaintext(statusOf(world, { is: 'settled' } as never), blueprint);
    const findings = { status, blueprint, generation: 1, now: new Date(0) };
    const written = dialect.writeStatus(findings, undefined) as { conditions: { type: string; status: string }[] };
    expect(written.conditions).toContainEqual(
      expect.objectContaining({ type: 'Secured', status: 'False', reason: 'NoTLS' }),
    );
    expect(written.conditions.find(({ type }) => type === 'Degraded')?.status).toBe('False');
    const events: unknown[] = [];
    const context = { recordEvent: (_: unknown, event: unknown) => void events.push(event) };
    recordPlaintextEvent(object, blueprint, context);
    recordPlaintextEvent({ ...object, status: written }, blueprint, context);
    expect(events).toEqual([
      { type: 'Warning', reason: 'NoTLS', message: expect.stringContaining(`${dialect.group}/allow-plaintext`) },
    ]);
  });

  it('with partial TLS has a message about the missing part', () => {
    const message = (spec: object) => plaintextIn(blueprintOf(objectWith({}, spec)))[0]?.message;
    expect(message({})).toContain('traffic with clients and between members');
    const members = { [tls]: { static: { member: { peerSecret: 'p' } } } };
    expect(message(members)).toContain('traffic with clients is');
    expect(message({ [tls]: { static: secrets } })).toBeUndefined();
  });

  it('without TLS has no message if the annotation or the operator accepts plaintext', () => {
    const accepted = objectWith({ [`${dialect.group}/allow-plaintext`]: 'true' });
    expect(plaintextIn(blueprintOf(accepted))).toEqual([]);
    expect(plaintextIn(blueprintOf(objectWith(), withoutPlaintextWarning(dialect)))).toEqual([]);
  });
});
