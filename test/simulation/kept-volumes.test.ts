import { describe, expect, it } from 'vitest';
import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../src/apis/improbable-v1alpha1/dialect.ts';
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

    /** Loses the node of one member for long enough that the member is replaced. */
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

    it('the PVC of a replaced member is deleted at once if keepRemovedVolumesSeconds is 0', async () => {
      const { life } = await replaced({ keepRemovedVolumesSeconds: 0 });
      expect([life.claims.length, life.kept]).toEqual([3, []]);
    });

    it('members that are added while volumes are kept never use a kept volume', async () => {
      const life = await started();
      for (const size of [1, 3, 1, 3]) {
        life.updateSpec(sized(size));
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

    it('members restart on their own volumes, not on kept ones, after all pods are deleted', async () => {
      const life = await started();
      for (const size of [1, 3]) {
        life.updateSpec(sized(size));
        await life.pass(5 * minute);
      }
      for (const pod of namesOf(life.pods)) life.objects.deleteObject('pods', pod);
      await life.pass(5 * minute);
      expect(life.pods).toHaveLength(3);
      expect(life.kept).toHaveLength(2);
      expect(life.violations).toEqual([]);
    });

    it('a restarted operator observes a kept volume for minutes before it deletes the volume', async () => {
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

    it('a kept volume is not deleted while a pod mounts it', async () => {
      const { life, victim } = await replaced();
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: victim } }];
      life.objects.put('pods', { metadata: { name: 'rescue', namespace: 'n' }, spec: { volumes } });
      await life.pass(90 * minute, 30);
      expect(namesOf(life.claims)).toContain(victim);
      expect(life.events.join('\n')).toContain('is mounted by pod rescue');
      life.objects.deleteObject('pods', 'rescue');
      await life.pass(90 * minute, 30);
      expect(namesOf(life.claims)).not.toContain(victim);
    });

    it('kept volumes are deleted or retained with their cluster by volumeClaimPolicy', async () => {
      const { life, victim } = await replaced(policy('Retain'));
      const ownersOf = (name: string) => life.objects.find('persistentvolumeclaims', name)?.metadata.ownerReferences;
      expect(ownersOf(victim)).toEqual([]);
      life.updateSpec(policy('Delete'));
      await life.pass(minute);
      expect(ownersOf(victim)).toMatchObject([{ kind: 'EtcdCluster', uid: 'u' }]);
      life.updateSpec(policy('Retain'));
      await life.pass(minute);
      for (const name of namesOf(life.claims)) expect(ownersOf(name), name).toEqual([]);
      expect(life.claims).toHaveLength(4);
      life.updateSpec(policy('Delete'));
      await life.pass(minute);
      life.objects.deleteObject('etcdclusters', 'db');
      expect(life.claims).toEqual([]);
    });

    it('a cluster created again resumes from retained volumes and does not touch kept ones', async () => {
      const { life, victim } = await replaced(policy('Retain'));
      const members = life.memberNames;
      life.recreate();
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
