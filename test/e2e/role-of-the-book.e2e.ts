import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

/** The Role of the book. It lacks permissions that our operator uses. */
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

story.onClusters(
  'with the Role of the book, the operator reports missing permissions and still manages clusters',
  async (context) => {
    const { kubectl, step, namespace } = context;
    const db = declared(kubectl);
    await installOperator(context, { role: booksRole });
    await step('the log, /readyz and an Event have the missing permissions', async () => {
      const log = await kubectl('logs deployment/etcd-operator');
      for (const permission of ['patch etcdclusters/status', 'create poddisruptionbudgets', 'update leases'])
        expect(log).toContain(permission);
      const [pod = ''] = (await kubectl('get pods -l name=etcd-operator -o jsonpath={.items[*].metadata.name}')).split(
        ' ',
      );
      const verbose = await kubectl(`get --raw /api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/readyz?verbose`);
      expect(verbose).toMatch(/^ok\nwatching namespace /);
      expect(verbose).toContain('\nmay not patch etcdclusters/status');
      await until('an Event on the operator pod has the missing permissions', async () => {
        const described = await kubectl(`describe pod ${pod}`);
        const lacks = (right: string): boolean => new RegExp(`Warning +MissingRights .*${right}`).test(described);
        return (lacks('patch etcdclusters/status') && lacks('create poddisruptionbudgets')) || undefined;
      });
    });
    await step('a cluster is created, scaled and healed', async () => {
      await db.apply({ size: 1, version: '3.5.35' });
      await db.voters(1);
      await kubectl('scale etcdcluster db --replicas=3');
      await db.voters(3);
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await until(
        'the deleted pod is no member',
        async () => (await db.members()).every(({ name }) => name !== victim) || undefined,
      );
      await db.voters(3);
    });
    await step('the operator has not restarted, and has created no PodDisruptionBudget', async () => {
      expect(
        await kubectl(
          'get pods -l name=etcd-operator -o jsonpath={.items[*].status.containerStatuses[*].restartCount}',
        ),
      ).toBe('0');
      expect(await kubectl('get poddisruptionbudgets -o name')).toBe('');
    });
  },
);
