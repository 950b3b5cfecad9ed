import { describe, expect, it } from 'vitest';
import { agentOf, stateOf } from './agent-of-pod.ts';

const pod = (status: object, metadata: object = {}) =>
  ({
    metadata: { name: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    status,
  }) as never;

const ended = (name: string, exitCode: number, message: object | string) => ({
  name,
  state: {
    terminated: {
      exitCode,
      reason: exitCode === 137 ? 'OOMKilled' : 'Error',
      message: typeof message === 'string' ? message : JSON.stringify(message),
    },
  },
});

const saved = { ok: true, seconds: 1.5, url: 's3://b/k', size: 20, revision: '7', version: '3.5.35', sha256: 'x' };

describe('what the pod of an agent says', () => {
  it('is when it was started and for which time', () => {
    const metadata = { annotations: { 'g/slot': '1234' } };
    expect(agentOf(pod({ phase: 'Pending' }, metadata), 'g')).toMatchObject({
      slot: 1234,
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      state: { is: 'starting', why: '' },
    });
  });

  it('is what was saved', () => {
    const state = stateOf(pod({ phase: 'Succeeded', containerStatuses: [ended('save', 0, saved)] }));
    expect(state).toMatchObject({
      is: 'ended',
      report: { ok: true, message: 'revision 7 is at s3://b/k, 20 bytes', facts: { version: '3.5.35', seconds: 1.5 } },
    });
  });

  it('is that pruning failed after saving, in the original’s words', () => {
    const refusal = { ok: false, trouble: 'denied', mayPass: false, message: 'no' };
    const state = stateOf(
      pod({
        phase: 'Failed',
        initContainerStatuses: [ended('save', 0, saved)],
        containerStatuses: [ended('prune', 1, refusal)],
      }),
    );
    expect(state).toMatchObject({
      report: { ok: false, message: 'succeeded in saving snapshot but failed to delete old snapshot (no)' },
    });
  });

  it.each([
    ['what the agent said', { containerStatuses: [ended('save', 1, { ok: false, message: 'denied' })] }, 'denied'],
    ['how the agent was ended', { containerStatuses: [ended('save', 137, '')] }, 'OOMKilled'],
    ['a message cut off in the middle', { containerStatuses: [ended('save', 1, '{"ok":fal')] }, 'Error'],
    ['what befell the pod', { reason: 'Evicted', message: 'the node was low on memory' }, 'the node was low on memory'],
    ['nothing', {}, 'no reason given'],
  ])('is, of a failure, %s', (_title, status, why) => {
    const state = stateOf(pod({ phase: 'Failed', ...status }));
    expect(state).toMatchObject({ is: 'ended', report: { ok: false, message: expect.stringContaining(why) } });
  });

  it.each([
    [
      'its image cannot be pulled',
      { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }] },
      'no such image',
    ],
    [
      'no node takes it',
      { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes' }] },
      '0/3 nodes',
    ],
    ['nothing is wrong yet', { containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] }, ''],
  ])('is why it has not started: %s', (_title, status, why) => {
    expect(stateOf(pod({ phase: 'Pending', ...status }))).toEqual({ is: 'starting', why });
  });

  it('is nothing when somebody deletes it: it is started again', () => {
    const deleted = pod({ phase: 'Failed' }, { deletionTimestamp: '2026-01-01T00:00:01Z' });
    expect(stateOf(deleted)).toMatchObject({ is: 'starting' });
  });
});
