import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { agentOf, agentStateOf, scheduledAt } from './agent-pods.ts';

const pod = (status: object, metadata: object = {}, spec: object = { restartPolicy: 'Never' }) =>
  ({
    spec,
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

describe('the state of an agent pod', () => {
  it('has its creation time and the scheduled time of its annotation', () => {
    const metadata = { annotations: { 'g/scheduled-at': '1970-01-01T00:00:01.234Z' } };
    expect(scheduledAt('g', 1234)).toEqual(metadata.annotations);
    expect(agentOf(pod({ phase: 'Pending' }, { annotations: {} }), 'g').slot).toBe(0);
    expect(agentOf(pod({ phase: 'Pending' }, metadata), 'g')).toMatchObject({
      slot: 1234,
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      state: { is: 'starting', why: '' },
    });
  });

  it('has the saved cluster if the termination message holds a valid one', () => {
    const stateWith = (cluster: string) =>
      agentStateOf(pod({ phase: 'Succeeded', containerStatuses: [ended('prove', 0, { ok: true, cluster })] }));
    const cluster = { apiVersion: 'g/v1', spec: { size: 3 } };
    const packed = deflateRawSync(JSON.stringify(cluster)).toString('base64');
    expect(stateWith(packed)).toMatchObject({ report: { ok: true, facts: { cluster } } });
    for (const nonsense of ['', 'nonsense', deflateRawSync('{}').toString('base64')])
      expect(stateWith(nonsense)).toMatchObject({ report: { ok: true, facts: { cluster: undefined } } });
  });

  it('has the facts of the saved backup', () => {
    const state = agentStateOf(pod({ phase: 'Succeeded', containerStatuses: [ended('save', 0, saved)] }));
    expect(state).toMatchObject({
      is: 'ended',
      report: { ok: true, message: 'revision 7 is at s3://b/k, 20 bytes', facts: { version: '3.5.35', seconds: 1.5 } },
    });
  });

  it('has no credentials in its message and warnings', () => {
    const quoted = 'GET https://u:p4ss@store/k failed';
    const shown = 'GET https://[redacted]@store/k failed';
    const good = { ...saved, warnings: [quoted, 'no leader'] };
    const ofGood = agentStateOf(pod({ phase: 'Succeeded', containerStatuses: [ended('save', 0, good)] }));
    expect(ofGood).toMatchObject({ report: { ok: true, facts: { warnings: [shown, 'no leader'] } } });
    const bad = { ok: false, trouble: 'denied', message: quoted };
    const ofBad = agentStateOf(pod({ phase: 'Failed', containerStatuses: [ended('inspect', 1, bad)] }));
    expect(ofBad).toMatchObject({ report: { ok: false, message: shown } });
  });

  it('is ended once the last container has ended, with restartPolicy Never', () => {
    const status = { phase: 'Running', containerStatuses: [ended('save', 0, saved)] };
    expect(agentStateOf(pod(status))).toMatchObject({ is: 'ended', report: { ok: true } });
    expect(agentStateOf(pod(status, {}, { restartPolicy: 'Always' }))).not.toMatchObject({ is: 'ended' });
    const failed = { phase: 'Running', containerStatuses: [ended('save', 1, { ok: false, message: 'denied' })] };
    expect(agentStateOf(pod(failed))).toMatchObject({ is: 'ended', report: { ok: false } });
  });

  const refusal = { ok: false, trouble: 'denied', mayPass: false, message: 'no' };

  it.each([
    ['the store refused it', { containerStatuses: [ended('prune', 1, refusal)] }, 'no'],
    ['the deadline was exceeded', { reason: 'DeadlineExceeded', message: 'it took too long' }, 'it took too long'],
  ])('has the saved backup and a warning with the original’s text if pruning failed: %s', (_title, status, why) => {
    const withWarning = { ...saved, warnings: ['no leader'] };
    const state = agentStateOf(
      pod({ phase: 'Failed', initContainerStatuses: [ended('save', 0, withWarning)], ...status }),
    );
    const warnings = ['no leader', `succeeded in saving snapshot but failed to delete old snapshot (${why})`];
    expect(state).toMatchObject({
      report: { ok: true, message: 'revision 7 is at s3://b/k, 20 bytes', facts: { url: 's3://b/k', warnings } },
    });
  });

  it('reports whether a retry may succeed', () => {
    const state = (mayPass: boolean) =>
      agentStateOf(pod({ phase: 'Failed', containerStatuses: [ended('inspect', 1, { ...refusal, mayPass })] }));
    expect(state(true)).toMatchObject({ report: { ok: false, mayPass: true } });
    expect(state(false)).not.toHaveProperty('report.mayPass');
  });

  it.each<[string, object, object]>([
    [
      'no result',
      ended('save', 0, ''),
      { mayPass: true, message: expect.stringContaining('without a complete result') },
    ],
    ['a result that was cut off', ended('save', 0, `{"ok":true,"url":"s3://b/k","x":"${'x'.repeat(4050)}`), {}],
    ['a result without the URL of the backup', ended('save', 0, { ok: true, seconds: 1 }), { mayPass: true }],
    ['a result with ok: false', ended('save', 0, { ok: false, message: 'damaged' }), {}],
    ['no result of any kind of agent', ended('prove', 0, ''), { mayPass: true }],
  ])('is a failure if the agent ended with exit code 0 and left %s', (_title, end, report) => {
    for (const phase of ['Succeeded', 'Running'])
      expect(agentStateOf(pod({ phase, containerStatuses: [end] }))).toMatchObject({
        is: 'ended',
        report: { ok: false, facts: {}, ...report },
      });
  });

  it('is a failure if the pod succeeded without any agent status', () => {
    expect(agentStateOf(pod({ phase: 'Succeeded' }))).toMatchObject({ is: 'ended', report: { ok: false } });
  });

  it('has the saved backup and a warning if pruning ended without a result', () => {
    const status = { initContainerStatuses: [ended('save', 0, saved)], containerStatuses: [ended('prune', 0, '')] };
    const { report } = agentStateOf(pod({ phase: 'Succeeded', ...status })) as { readonly report: object };
    expect(report).toMatchObject({ ok: true, facts: { url: 's3://b/k', warnings: [expect.any(String)] } });
  });

  it('ignores containers that an admission webhook added', () => {
    const status = { initContainerStatuses: [ended('mesh-init', 0, '')], containerStatuses: [ended('save', 0, saved)] };
    const command = ['/usr/local/bin/etcd-operator', 'agent', 'save'];
    const spec = {
      restartPolicy: 'Never',
      initContainers: [{ name: 'mesh-init' }],
      containers: [{ name: 'save', command }],
    };
    const state = agentStateOf(pod({ phase: 'Succeeded', ...status }, {}, spec));
    expect(state).toMatchObject({ report: { ok: true, facts: { url: 's3://b/k' } } });
  });

  it('is a failure if the result is ok and the exit code is not 0', () => {
    const state = agentStateOf(pod({ phase: 'Failed', containerStatuses: [ended('save', 137, saved)] }));
    expect(state).toMatchObject({ report: { ok: false } });
  });

  it.each([
    ['the message of the agent', { containerStatuses: [ended('save', 1, { ok: false, message: 'denied' })] }, 'denied'],
    ['the termination reason of the container', { containerStatuses: [ended('save', 137, '')] }, 'OOMKilled'],
    [
      'the termination reason if the message is cut off',
      { containerStatuses: [ended('save', 1, '{"ok":fal')] },
      'Error',
    ],
    [
      'the message of the pod',
      { reason: 'Evicted', message: 'the node was low on memory' },
      'the node was low on memory',
    ],
    ['a placeholder without any message', {}, 'no reason given'],
  ])('reports for a failure: %s', (_title, status, why) => {
    const state = agentStateOf(pod({ phase: 'Failed', ...status }));
    expect(state).toMatchObject({ is: 'ended', report: { ok: false, message: expect.stringContaining(why) } });
  });

  const killed = { name: 'save', state: { terminated: { exitCode: 137, reason: 'Error' } } };

  it.each<[string, object, boolean]>([
    ['killed', { containerStatuses: [killed] }, true],
    ['asked to stop', { containerStatuses: [ended('save', 1, { ok: false, trouble: 'stopped' })] }, true],
    ['evicted', { reason: 'Evicted' }, true],
    ['ended by its deadline', { reason: 'DeadlineExceeded', containerStatuses: [killed] }, false],
    ['OOM-killed', { containerStatuses: [ended('save', 137, '')] }, false],
    ['refused by the store', { containerStatuses: [ended('save', 1, { ok: false, trouble: 'denied' })] }, false],
    ['not startable', { containerStatuses: [ended('save', 128, '')] }, false],
    ['killed after the save', { initContainerStatuses: [ended('save', 0, saved)], containerStatuses: [killed] }, false],
  ])('reports whether an agent that was %s has been interrupted', (_title, status, wasInterrupted) => {
    const state = agentStateOf(pod({ phase: 'Failed', ...status }));
    expect(state.is === 'ended' && state.report.wasInterrupted === true).toBe(wasInterrupted);
  });

  it.each([
    [
      'its image cannot be pulled',
      { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }] },
      'no such image',
    ],
    ['no node fits', { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes' }] }, '0/3 nodes'],
    [
      'its containers are being created',
      { containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] },
      '',
    ],
  ])('reports why the pod has not started: %s', (_title, status, why) => {
    expect(agentStateOf(pod({ phase: 'Pending', ...status }))).toEqual({ is: 'starting', why });
  });

  it('is starting for a deleted pod, because the agent is started again', () => {
    const deleted = pod({ phase: 'Failed' }, { deletionTimestamp: '2026-01-01T00:00:01Z' });
    expect(agentStateOf(deleted)).toMatchObject({ is: 'starting' });
  });
});
