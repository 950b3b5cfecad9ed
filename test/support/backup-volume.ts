import type { Kubectl } from './kubectl.ts';
import { condition, waitFor } from './waits.ts';

/** The files on a PVC with backups, read through a helper pod. */
export interface BackupVolume {
  /** The paths of snapshots with this prefix, without manifests and unfinished files. */
  readonly snapshots: (prefix?: string) => Promise<readonly string[]>;
  /** Creates an empty file that does not belong to a backup. */
  readonly put: (file: string) => Promise<void>;
}

const at = '/backup-volume';

export async function openBackupVolume(kubectl: Kubectl, claim: string): Promise<BackupVolume> {
  const container = {
    ...{ name: 'backup-volume', image: 'busybox', command: ['sleep', '3600'] },
    volumeMounts: [{ name: 'volume', mountPath: at }],
  };
  const volumes = [{ name: 'volume', persistentVolumeClaim: { claimName: claim } }];
  const spec = { containers: [container], volumes, terminationGracePeriodSeconds: 0 };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'backup-volume' }, spec };
  await kubectl('apply -f -', { input: JSON.stringify(pod) });
  await waitFor(kubectl, 'pod/backup-volume', condition('Ready'));
  return {
    snapshots: async (prefix = '') => {
      const found = await kubectl(`exec backup-volume -- find ${at} -type f`);
      const paths = found.split('\n').map((path) => path.slice(at.length + 1));
      return paths.filter((path) => path !== '' && path.startsWith(prefix) && isSnapshot(path)).toSorted();
    },
    put: async (file) => void (await kubectl(`exec backup-volume -- touch ${at}/${file}`)),
  };
}

const isSnapshot = (path: string): boolean => !path.endsWith('.json') && !path.endsWith('.unfinished');
