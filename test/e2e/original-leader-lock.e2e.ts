import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { inSeconds, rolledOut, waitFor } from '../support/waits.ts';

const annotation = 'control-plane.alpha.kubernetes.io/leader';

story('an operator waits for the leader lock of an original operator, and logs it as text', async (context) => {
  const { kubectl, step } = context;
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
  await installOperator(context, { flags: ['--log-format=text', '-chaos-level=-1'], ready: false });
  await step('the operator waits while the lock is valid', async () => {
    const line = await until(
      'a log line about the lock',
      async () => /^.*waiting for the lock.*$/m.exec(await log())?.[0],
    );
    expect(line).toContain('the-original');
    expect(() => JSON.parse(line)).toThrow(); // --log-format=text
    expect(await fieldOf(kubectl, 'pods -l name=etcd-operator', '.status.containerStatuses[0].ready')).toBe('false');
  });
  await step('the operator serves after the lock has expired', async () => {
    await kubectl('apply -f -', { input: lockedBy(4) });
    await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(90, rolledOut));
    const db = declared(kubectl);
    await db.apply({ size: 1, version: '3.6.16' });
    await db.settled(1);
  });
});
