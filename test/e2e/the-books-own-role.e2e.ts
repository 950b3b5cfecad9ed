import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

/** The rules that the book gives to its operator, under which ours lacks some of what it asks for. */
const booksRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: etcd-operator-role }
rules:
  - { apiGroups: [etcd.database.coreos.com], resources: [etcdclusters, etcdbackups, etcdrestores], verbs: ["*"] }
  - { apiGroups: [""], resources: [pods, services, endpoints, persistentvolumeclaims, events], verbs: ["*"] }
  - { apiGroups: [apps], resources: [deployments], verbs: ["*"] }
  - { apiGroups: [""], resources: [secrets], verbs: [get] }
`;

story.onClusters("under the book's own Role the operator says what it lacks, and does the rest", async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declared(kubectl);
  await installOperator(told, { role: booksRole });
  await step('it says what it lacks', async () => {
    const log = await kubectl('logs deployment/etcd-operator');
    for (const lacking of ['patch etcdclusters/status', 'create poddisruptionbudgets', 'update leases'])
      expect(log).toContain(lacking);
    const [pod = ''] = (await kubectl('get pods -l name=etcd-operator -o jsonpath={.items[*].metadata.name}')).split(
      ' ',
    );
    const verbose = await kubectl(`get --raw /api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/readyz?verbose`);
    expect(verbose).toMatch(/^ok\nwatching namespace /);
    expect(verbose).toContain('\nmay not patch etcdclusters/status');
    await until('an Event on its pod says the same', async () => {
      const described = await kubectl(`describe pod ${pod}`);
      const lacks = (right: string): boolean => new RegExp(`Warning +MissingRights .*${right}`).test(described);
      return (lacks('patch etcdclusters/status') && lacks('create poddisruptionbudgets')) || undefined;
    });
  });
  await step('it creates, scales and heals', async () => {
    await db.apply({ size: 1, version: '3.5.35' });
    await db.voters(1);
    await kubectl('scale etcdcluster db --replicas=3');
    await db.voters(3);
    const [victim = ''] = await db.podNames();
    await kubectl(`delete pod ${victim}`);
    await until('it is no member', async () => (await db.members()).every(({ name }) => name !== victim) || undefined);
    await db.voters(3);
  });
  await step('it has not crashed, and has made no budget', async () => {
    expect(
      await kubectl('get pods -l name=etcd-operator -o jsonpath={.items[*].status.containerStatuses[*].restartCount}'),
    ).toBe('0');
    expect(await kubectl('get poddisruptionbudgets -o name')).toBe('');
  });
});
