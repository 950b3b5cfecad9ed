import { describe, expect, it } from 'vitest';
import { coreos } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import { improbable } from '../../src/dialects/improbable-v1alpha1/dialect.ts';
import { SimulatedVolumes } from './simulated-volumes.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const version = '3.6.16';
const minute = 60;

const apis = [
  {
    api: 'coreos',
    dialect: coreos,
    spec: { size: 3, version, pod: { persistentVolumeClaimSpec: claim } },
    sized: (size: number) => ({ size }),
    policy: (volumeClaimPolicy: string): object => ({ volumeClaimPolicy }),
  },
  {
    api: 'improbable',
    dialect: improbable,
    spec: { replicas: 3, version, storage: { volumeClaimTemplate: claim, volumeClaimPolicy: 'Retain' } },
    sized: (replicas: number) => ({ replicas }),
    policy: (volumeClaimPolicy: string): object => ({ storage: { volumeClaimTemplate: claim, volumeClaimPolicy } }),
  },
] as const;

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).toSorted();

describe.each(apis)(
  'volumes of removed members in the $api API',
  { timeout: 60_000 },
  ({ api, dialect, spec, sized, policy }) => {
    const started = async (more: object = {}): Promise<SimulatedVolumes> => {
      const life = new SimulatedVolumes(dialect, { ...spec, ...more });
      await life.pass(3 * minute);
      expect(life.memberNames).toHaveLength(3);
      return life;
    };

    /** A member whose node is lost for longer than is waited for. */
    const replaced = async (more: object = {}) => {
      const life = await started(more);
      const victim = life.memberNames[1] ?? '';
      life.loseNodeOf(victim);
      await life.pass(8 * minute);
      expect(life.memberNames).toHaveLength(3);
      return { life, victim };
    };

    it('the PVC of a replaced member is kept, named in the status and in an Event, and deleted after an hour', async () => {
      const { life, victim } = await replaced();
      expect(namesOf(life.claims)).toContain(victim);
      expect(life.kept).toEqual([
        { name: victim, member: victim, until: expect.stringMatching(/^2026-01-01T01:0\d:\d\dZ$/) },
      ]);
      expect(life.events.join('\n')).toContain(
        `VolumeKept PersistentVolumeClaim ${victim} of removed member ${victim} is kept`,
      );
      await life.pass(50 * minute, 30);
      expect(namesOf(life.claims)).toContain(victim);
      await life.pass(12 * minute);
      expect(namesOf(life.claims)).not.toContain(victim);
      expect(life.kept).toEqual([]);
      expect(life.violations).toEqual([]);
      expect(life.claims).toHaveLength(3);
    });

    it('the PVC of a replaced member is deleted at once if none are kept', async () => {
      const { life } = await replaced({ keepRemovedVolumesSeconds: 0 });
      expect([life.claims.length, life.kept]).toEqual([3, []]);
    });

    it('members that are added meanwhile never run on a kept volume', async () => {
      const life = await started();
      for (const size of [1, 3, 1, 3]) {
        life.want(sized(size));
        await life.pass(5 * minute);
        expect(life.memberNames).toHaveLength(size);
      }
      expect(life.kept).toHaveLength(4);
      expect(life.claims).toHaveLength(7);
      if (api === 'improbable') {
        expect(life.memberNames).toEqual(['db-0', 'db-1', 'db-2']);
        const numbers = ['db-1', 'db-2'].flatMap((name) => [name, `${name}-v2`, `${name}-v3`]);
        expect(namesOf(life.claims)).toEqual(['db-0', ...numbers]);
      }
      await life.pass(70 * minute, 30);
      expect([life.claims.length, life.kept]).toEqual([3, []]);
      expect(life.violations).toEqual([]);
    });

    it('members return to their own volumes when all pods are gone, and not to kept ones', async () => {
      const life = await started();
      for (const size of [1, 3]) {
        life.want(sized(size));
        await life.pass(5 * minute);
      }
      for (const pod of namesOf(life.pods)) life.objects.vanish('pods', pod);
      await life.pass(5 * minute);
      expect(life.pods).toHaveLength(3);
      expect(life.kept).toHaveLength(2);
      expect(life.violations).toEqual([]);
    });

    it('an operator that was started after the hour watches a kept volume for minutes before it deletes it', async () => {
      const { life, victim } = await replaced();
      await life.pass(30 * minute);
      life.restartOperator();
      await life.pass(24 * minute, 23 * minute);
      life.restartOperator();
      await life.pass(4 * minute);
      expect(namesOf(life.claims)).toContain(victim);
      await life.pass(20 * minute);
      expect(namesOf(life.claims)).not.toContain(victim);
    });

    it('a kept volume that any pod mounts is not deleted until none does', async () => {
      const { life, victim } = await replaced();
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: victim } }];
      life.objects.put('pods', { metadata: { name: 'rescue', namespace: 'n' }, spec: { volumes } });
      await life.pass(90 * minute, 30);
      expect(namesOf(life.claims)).toContain(victim);
      expect(life.events.join('\n')).toContain('is mounted by pod rescue');
      life.objects.vanish('pods', 'rescue');
      await life.pass(90 * minute, 30);
      expect(namesOf(life.claims)).not.toContain(victim);
    });

    it('kept volumes go or stay with their cluster as its policy says', async () => {
      const { life, victim } = await replaced(policy('Retain'));
      const ownersOf = (name: string) => life.objects.find('persistentvolumeclaims', name)?.metadata.ownerReferences;
      expect(ownersOf(victim)).toEqual([]);
      life.want(policy('Delete'));
      await life.pass(minute);
      expect(ownersOf(victim)).toMatchObject([{ kind: 'EtcdCluster', uid: 'u' }]);
      life.want(policy('Retain'));
      await life.pass(minute);
      for (const name of namesOf(life.claims)) expect(ownersOf(name), name).toEqual([]);
      expect(life.claims).toHaveLength(4);
      life.want(policy('Delete'));
      await life.pass(minute);
      life.objects.vanish('etcdclusters', 'db');
      expect(life.claims).toEqual([]);
    });

    it('a cluster that is declared again goes on with retained volumes of members, and leaves kept ones alone', async () => {
      const { life, victim } = await replaced(policy('Retain'));
      const members = life.memberNames;
      life.declareAgain();
      expect(life.pods).toEqual([]);
      await life.pass(5 * minute);
      expect(life.memberNames).toEqual(members);
      expect(namesOf(life.pods)).toEqual(members);
      await life.pass(120 * minute, 30);
      expect(namesOf(life.claims)).toContain(victim);
      expect(life.kept).toEqual([]);
      expect(life.violations).toEqual([]);
    });
  },
);
