import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { inSeconds, rolledOut, waitFor } from '../support/waits.ts';

const annotation = 'control-plane.alpha.kubernetes.io/leader';

story('an operator waits for the lock of an original one, and tells it in words for people', async (told) => {
  const { kubectl, step } = told;
  const lockedBy = (seconds: number): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        name: 'etcd-operator',
        annotations: {
          [annotation]: JSON.stringify({
            holderIdentity: 'the-original',
            leaseDurationSeconds: seconds,
            renewTime: new Date().toISOString(),
          }),
        },
      },
    });
  const log = (): Promise<string> => kubectl('logs deployment/etcd-operator').catch(() => '');

  await kubectl('apply -f -', { input: lockedBy(3600) });
  await installOperator(told, { flags: ['--log-format=text', '-chaos-level=-1'], ready: false });
  await step('it waits as long as the lock is good', async () => {
    const line = await until(
      'it says what it waits for',
      async () => /^.*waiting for the lock.*$/m.exec(await log())?.[0],
    );
    expect(line).toContain('the-original');
    expect(() => JSON.parse(line)).toThrow(); // it was told to write for people
    expect(await shown(kubectl, 'pods -l name=etcd-operator', '.status.containerStatuses[0].ready')).toBe('false');
  });
  await step('and serves when it has run out', async () => {
    await kubectl('apply -f -', { input: lockedBy(4) });
    await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(90, rolledOut));
    const db = declared(kubectl);
    await db.apply({ size: 1, version: '3.6.16' });
    await db.settled(1);
  });
});
