import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pods } from './apiserver/kinds/pods.ts';
import { ApiLookup } from './kubelet/pod/api-lookup.ts';
import { writePayload } from './kubelet/volumes/payload.ts';
import { makeVolumes, mountsOf } from './kubelet/volumes/volumes.ts';
import { isInside, pathInside } from './path-inside.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'inside-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const podWith = (volume: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' },
  spec: { containers: [{ name: 'c', image: 'busybox' }], volumes: [{ name: 'v', ...volume }] },
});
const made = (volume: object) =>
  makeVolumes({ pod: podWith(volume), directory, lookup: undefined as never, directoryOfPvc: async () => '' });
const mounted = (subPath: string) =>
  mountsOf({ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data', subPath }] }, { v: directory });

describe('a pod of the lab', () => {
  it('with a hostPath is refused by the API server and by the kubelet, with a reason and a remedy', async () => {
    const refusal =
      /volume "v": the lab refuses hostPath, because its pods run as your own user .* use an emptyDir or a Pers/;
    const pod = podWith({ hostPath: { path: '/' } });
    expect(() => pods.admit?.(pod as never, { store: { get: () => undefined } } as never)).toThrow(refusal);
    await expect(made({ hostPath: { path: '/' } })).rejects.toThrow(refusal);
  });

  it('cannot leave its volumes by a volume name, a subPath, a symlink or a path in a Secret', async () => {
    await expect(made({ name: '../../v', emptyDir: {} })).rejects.toThrow('leads out of the volume');
    expect(() => mounted('../..')).toThrow('leads out of the volume');
    symlinkSync('/', join(directory, 'link'));
    expect(() => mounted('link')).toThrow('leads out of the volume');
    expect(() => mounted('link/new')).toThrow('leads out of the volume');
    const file = { path: '../../../x', content: Buffer.from(''), mode: 0o600 };
    await expect(writePayload(directory, [file])).rejects.toThrow('leads out of the volume');
  });

  it('gets the volume directories that its subPaths name', async () => {
    mkdirSync(join(directory, 'data'));
    expect(['', 'data', 'new/one'].map((subPath) => mounted(subPath)[0]?.source)).toEqual([
      directory,
      join(directory, 'data'),
      join(directory, 'new/one'),
    ]);
    expect(await made({ emptyDir: {} })).toEqual({ v: join(directory, 'volumes/v') });
  });

  it('uses only persistent volumes that the lab made', async () => {
    const objects = (path: string) => ({
      persistentvolumeclaims: { spec: { volumeName: 'pv' }, status: { phase: 'Bound' } },
      persistentvolumes: { spec: { hostPath: { path } } },
    });
    const directoryOfPvc = (path: string) => {
      const get = async ({ plural }: { plural: 'persistentvolumes' }) => objects(path)[plural];
      return new ApiLookup({ get } as never, podWith({}), directory).directoryOfPvc('claim');
    };
    await expect(directoryOfPvc('/home')).rejects.toThrow('the lab uses only its own volumes, not /home');
    await expect(directoryOfPvc(`${directory}/../x`)).rejects.toThrow('only its own volumes');
    expect(await directoryOfPvc(join(directory, 'pvc-1'))).toBe(join(directory, 'pvc-1'));
  });
});

it('isInside accepts the directory itself and rejects a sibling with the same prefix', () => {
  expect([isInside('/a', '/a'), isInside('/a', '/a/b'), isInside('/a', '/ab'), isInside('/a', '/a/../b')]).toEqual([
    ...[true, true, false, false],
  ]);
  expect(() => pathInside('/a', '../ab', 'x')).toThrow('leads out');
});
