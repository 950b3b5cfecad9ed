import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { manifestOf } from '../support/cluster.ts';
import { underTest } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { inSeconds, rolledOut, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const deploy = join(import.meta.dirname, '../../deploy/namespaces/coreos');

story('an operator of named namespaces serves each namespace as soon as it has a RoleBinding', async (context) => {
  const { kubectl, step, namespace } = context;
  const [bound, unbound] = ['bound', 'unbound'].map((name) => `${namespace.slice(0, 50)}-${name}`) as [string, string];
  const role = `etcd-operator-namespaced-${namespace}`;
  const shipped = (file: string): string =>
    readFileSync(join(deploy, file), 'utf8')
      .replaceAll('namespace: etcd-operator', `namespace: ${namespace}`)
      .replaceAll('name: etcd-operator-namespaced', `name: ${role}`)
      .replace('--namespaces=team-a,team-b', `--namespaces=${bound},${unbound}`);
  const bind = (target: string): Promise<string> =>
    kubectl('apply -f -', { input: shipped('rolebinding.yaml') }, target);
  const declare = (target: string): Promise<string> =>
    kubectl('apply -f -', { input: manifestOf('db', { size: 1, version }) }, target);
  const served = (target: string): Promise<string> =>
    kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=1 --timeout=90s', {}, target);
  const log = (): Promise<string> => kubectl('logs deployment/etcd-operator').catch(() => '');
  try {
    await step('the operator has a RoleBinding in one of two namespaces', async () => {
      for (const target of [bound, unbound]) await kubectl(`create namespace ${target}`);
      await kubectl('create serviceaccount etcd-operator');
      await kubectl('apply -f -', { input: shipped('operator-roles.yaml') });
      await bind(bound);
      await kubectl('apply -f -', { input: underTest(shipped('operator-deployment.yaml')) });
      await waitFor(kubectl, 'deployment/etcd-operator', inSeconds(90, rolledOut));
    });
    await step('the log has the watched namespaces and the missing permissions', async () => {
      const output = await until('the log has the namespaces', async () =>
        (await log()).includes('watching namespaces') ? log() : undefined,
      );
      expect(output).toContain(`watching namespaces ${bound}, ${unbound}: resources in other namespaces are ignored`);
      expect(output).toContain(`in namespace ${unbound}: may not list etcdclusters.etcd.database.coreos.com`);
      expect(output).not.toContain(`in namespace ${bound}: may not`);
      expect(output).not.toContain(`in namespace ${namespace}: may not`);
    });
    await step('only the cluster in the bound namespace is served', async () => {
      for (const target of [unbound, namespace, bound]) await declare(target);
      await served(bound);
      for (const target of [unbound, namespace])
        expect(await kubectl('get etcdcluster/db -o jsonpath={.status}', {}, target)).toBe('');
      expect(await fieldOf(kubectl, 'lease/etcd-operator', '.spec.holderIdentity')).toMatch(/^etcd-operator-/);
    });
    await step('a new RoleBinding makes the operator serve the other namespace without a restart', async () => {
      await bind(unbound);
      await served(unbound);
      expect(await log()).toContain(`permissions in namespace ${unbound} granted: serving it`);
      expect(await kubectl('get etcdcluster/db -o jsonpath={.status}')).toBe('');
    });
    await step('the clusters of both namespaces are scaled up', async () => {
      for (const target of [bound, unbound]) await kubectl('scale etcdcluster/db --replicas=3', {}, target);
      for (const target of [bound, unbound])
        await kubectl('wait etcdcluster/db --for=jsonpath={.status.readyMembers}=3 --timeout=120s', {}, target);
    });
  } finally {
    await kubectl(`delete namespace ${bound} ${unbound} --wait=false`, {}, 'default').catch(() => '');
    await kubectl(`delete clusterrole ${role} --ignore-not-found`, {}, 'default');
  }
});
