import { expect } from 'vitest';
import { coreos, improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installForBoth } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';

story('one operator looks after clusters of both APIs, and a name is given away once', async (told) => {
  const { kubectl, step } = told;
  const one = declaredIn(coreos)(kubectl, 'one');
  const two = declaredIn(improbable)(kubectl, 'two');
  const late = declaredIn(improbable)(kubectl, 'one');
  await installForBoth(told);
  await step('side by side in one namespace', async () => {
    await one.apply({ size: 1, version });
    await two.apply({ size: 1, version });
    await one.settled(1);
    await two.settled(1);
  });
  const [[pod = ''], before] = [await one.podNames(), await one.ids()];
  await step('a name that the other API uses is refused, and nothing is touched', async () => {
    await late.apply({ size: 3, version });
    await kubectl(`wait ${late.resource} --for=condition=Degraded --timeout=30s`);
    const message = `{.status.conditions[?(@.type=="Degraded")].message}`;
    const says = 'one is taken by an EtcdCluster of etcd.database.coreos.com in this namespace';
    expect(await kubectl(`get ${late.resource} -o jsonpath='${message}'`)).toContain(says);
    const events = 'get events --field-selector reason=BadSpec,involvedObject.name=one -o name';
    await until('an Event tells it', async () => (await kubectl(events)) !== '' || undefined);
    for (const kind of ['pods', 'etcdpeers.etcd.improbable.io', 'persistentvolumeclaims', 'services'])
      expect(await kubectl(`get ${kind} -l ${late.label} -o name`)).toBe('');
    expect([await one.podNames(), await one.ids()]).toEqual([[pod], before]);
  });
  await step('when the first is gone, the second has the name', async () => {
    await kubectl(`delete ${one.resource}`);
    await late.settled(3);
  });
});
