import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pods } from './apiserver/kinds/pods.ts';
import { isInside, pathInside } from './inside.ts';
import { ApiLookup } from './node/pod/api-lookup.ts';
import { writePayload } from './node/volumes/payload.ts';
import { makeVolumes, mountsOf } from './node/volumes/volumes.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'inside-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const podWith = (volume: object) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' } },
  spec: { containers: [{ name: 'c', image: 'busybox' }], volumes: [{ name: 'v', ...volume }] },
});
const made = (volume: object) =>
  makeVolumes({ pod: podWith(volume), directory, lookup: undefined as never, claimed: async () => '' });
const mounted = (subPath: string) =>
  mountsOf({ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data', subPath }] }, { v: directory });

describe('a pod of the lab', () => {
  it('with a hostPath is refused by the API server, and not started by a node, with a reason and a remedy', async () => {
    const says =
      /volume "v": the lab refuses hostPath, because its pods run as your own user .* use an emptyDir or a Pers/;
    const pod = podWith({ hostPath: { path: '/' } });
    expect(() => pods.admit?.(pod as never, { store: { get: () => undefined } } as never)).toThrow(says);
    await expect(made({ hostPath: { path: '/' } })).rejects.toThrow(says);
  });

  it('reaches nothing outside its volumes by their names, by subPath, by a link, or by the files of a Secret', async () => {
    await expect(made({ name: '../../v', emptyDir: {} })).rejects.toThrow('leads out of the volume');
    expect(() => mounted('../..')).toThrow('leads out of the volume');
    symlinkSync('/', join(directory, 'link'));
    expect(() => mounted('link')).toThrow('leads out of the volume');
    expect(() => mounted('link/new')).toThrow('leads out of the volume');
    const file = { path: '../../../x', content: Buffer.from(''), mode: 0o600 };
    await expect(writePayload(directory, [file])).rejects.toThrow('leads out of the volume');
  });

  it('has the directories in its volumes that it asks for', async () => {
    mkdirSync(join(directory, 'data'));
    expect(['', 'data', 'new/one'].map((subPath) => mounted(subPath)[0]?.source)).toEqual([
      directory,
      join(directory, 'data'),
      join(directory, 'new/one'),
    ]);
    expect(await made({ emptyDir: {} })).toEqual({ v: join(directory, 'volumes/v') });
  });

  it('uses persistent volumes of the lab only', async () => {
    const objects = (path: string) => ({
      persistentvolumeclaims: { spec: { volumeName: 'pv' }, status: { phase: 'Bound' } },
      persistentvolumes: { spec: { hostPath: { path } } },
    });
    const claimed = (path: string) => {
      const get = async ({ plural }: { plural: 'persistentvolumes' }) => objects(path)[plural];
      return new ApiLookup({ get } as never, podWith({}), directory).claimed('claim');
    };
    await expect(claimed('/home')).rejects.toThrow('the lab uses only volumes of its own, not /home');
    await expect(claimed(`${directory}/../x`)).rejects.toThrow('volumes of its own');
    expect(await claimed(join(directory, 'pvc-1'))).toBe(join(directory, 'pvc-1'));
  });
});

it('a directory is inside itself, and not inside one whose name begins alike', () => {
  expect([isInside('/a', '/a'), isInside('/a', '/a/b'), isInside('/a', '/ab'), isInside('/a', '/a/../b')]).toEqual([
    ...[true, true, false, false],
  ]);
  expect(() => pathInside('/a', '../ab', 'x')).toThrow('leads out');
});
