import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { manifestOf } from '../support/cluster.ts';
import { underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { inSeconds, rolledOut, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const deploy = join(import.meta.dirname, '../../deploy/namespaces/coreos');

story('an operator of named namespaces serves them with RoleBindings only, each from when it has one', async (told) => {
  const { kubectl, step, namespace } = told;
  const [bound, unbound] = ['bound', 'unbound'].map((name) => `${namespace.slice(0, 50)}-${name}`) as [string, string];
  const role = `etcd-operator-namespaced-${namespace}`;
  const shipped = (file: string): string =>
    readFileSync(join(deploy, file), 'utf8')
      .replaceAll('namespace: etcd-operator', `namespace: ${namespace}`)
      .replaceAll('name: etcd-operator-namespaced', `name: ${role}`)
      .replace('--namespaces=team-a,team-b', `--namespaces=${bound},${unbound}`);
  const bind = (place: string): Promise<string> => kubectl('apply -f -', { input: shipped('rolebinding.yaml') }, place);
  const declare = (place: string): Promise<string> =>
    kubectl('apply -f -', { input: manifestOf('db', { size: 1, version }) }, place);
  const served = (place: string): Promise<string> =>
    kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=1 --timeout=90s', {}, place);
  const log = (): Promise<string> => kubectl('logs deployment/etcd-operator').catch(() => '');
  try {
    await step('it is installed with a right to one of two namespaces', async () => {
      for (const place of [bound, unbound]) await kubectl(`create namespace ${place}`);
      await kubectl('create serviceaccount etcd-operator');
      await kubectl('apply -f -', { input: shipped('operator-roles.yaml') });
      await bind(bound);
      await kubectl('apply -f -', { input: underTest(shipped('operator-deployment.yaml')) });
      await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(90, rolledOut));
    });
    await step('it says which namespaces it watches, and where rights are missing', async () => {
      const said = await until('it said so', async () =>
        (await log()).includes('watching namespaces') ? log() : undefined,
      );
      expect(said).toContain(`watching namespaces ${bound}, ${unbound}: resources in other namespaces are ignored`);
      expect(said).toContain(`in namespace ${unbound}: may not list etcdclusters.etcd.database.coreos.com`);
      expect(said).not.toContain(`in namespace ${bound}: may not`);
      expect(said).not.toContain(`in namespace ${namespace}: may not`);
    });
    await step('a cluster of the bound namespace is served, and none of the others', async () => {
      for (const place of [unbound, namespace, bound]) await declare(place);
      await served(bound);
      for (const place of [unbound, namespace])
        expect(await kubectl('get etcdcluster/db -o jsonpath={.status}', {}, place)).toBe('');
      expect(await shown(kubectl, 'lease/etcd-operator', '.spec.holderIdentity')).toMatch(/^etcd-operator-/);
    });
    await step('the other is served without a restart once it is bound', async () => {
      await bind(unbound);
      await served(unbound);
      expect(await log()).toContain(`the rights in namespace ${unbound} are granted: serving it`);
      expect(await kubectl('get etcdcluster/db -o jsonpath={.status}')).toBe('');
    });
    await step('a cluster of either grows', async () => {
      for (const place of [bound, unbound]) await kubectl('scale etcdcluster/db --replicas=3', {}, place);
      for (const place of [bound, unbound])
        await kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=3 --timeout=120s', {}, place);
    });
  } finally {
    await kubectl(`delete namespace ${bound} ${unbound} --wait=false`, {}, 'default').catch(() => '');
    await kubectl(`delete clusterrole ${role} --ignore-not-found`, {}, 'default');
  }
});
