import type { Kubectl } from './kubectl.ts';
import { condition, waitFor } from './waits.ts';

/** What lies on a volume claim, seen by a pod that does nothing else. */
export interface Shelf {
  /** Snapshots whose path begins so, without what stands beside them. */
  readonly snapshots: (prefix?: string) => Promise<readonly string[]>;
  /** Puts a file there that is nobody's. */
  readonly put: (file: string) => Promise<void>;
}

const at = '/shelf';

export async function shelfOn(kubectl: Kubectl, claim: string): Promise<Shelf> {
  const container = {
    ...{ name: 'shelf', image: 'busybox', command: ['sleep', '3600'] },
    volumeMounts: [{ name: 'volume', mountPath: at }],
  };
  const volumes = [{ name: 'volume', persistentVolumeClaim: { claimName: claim } }];
  const spec = { containers: [container], volumes, terminationGracePeriodSeconds: 0 };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'shelf' }, spec };
  await kubectl('apply -f -', { input: JSON.stringify(pod) });
  await waitFor(kubectl, 'pod/shelf', condition('Ready'));
  return {
    snapshots: async (prefix = '') => {
      const found = await kubectl(`exec shelf -- find ${at} -type f`);
      const paths = found.split('\n').map((path) => path.slice(at.length + 1));
      return paths.filter((path) => path !== '' && path.startsWith(prefix) && isShown(path)).toSorted();
    },
    put: async (file) => void (await kubectl(`exec shelf -- touch ${at}/${file}`)),
  };
}

const isShown = (path: string): boolean => !path.endsWith('.json') && !path.endsWith('.unfinished');
