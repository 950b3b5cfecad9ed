import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Volume } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import { Failure } from '../../../src/std/failure.ts';
import { pathInside } from '../../path-inside.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { Mount } from '../image/image.ts';
import { type PayloadFile, writePayload } from './payload.ts';
import { downwardFiles, type KeyedSource, keyedFiles, type PodLookup, projectedFiles } from './sources.ts';

type Volume = Json<V1Volume>;

export interface VolumeOptions {
  readonly pod: Pod;
  /** The pod's directory on this node. */
  readonly directory: string;
  readonly lookup: PodLookup;
  /** The directory of a PVC; fails with the reason if it has none yet. */
  readonly directoryOfPvc: (pvc: string) => Promise<string>;
}

const defaultMode = 0o644;

const hostPathRefusal =
  'the lab refuses hostPath, because its pods run as your own user and could read all your files: use an emptyDir or a ' +
  'PersistentVolumeClaim';

/** Creates or updates a pod's volumes; returns the directory of each by its name. */
export async function makeVolumes(options: VolumeOptions): Promise<Readonly<Record<string, string>>> {
  const inPreparation = (options.pod.spec?.volumes ?? []).map(
    async (volume): Promise<[string, string]> => [volume.name, await directoryOf(volume, options)],
  );
  // Waits for all volumes even if one fails: a retry must not find a volume that is still being written.
  await Promise.allSettled(inPreparation);
  return Object.fromEntries(await Promise.all(inPreparation));
}

async function directoryOf(volume: Volume, options: VolumeOptions): Promise<string> {
  if (volume.persistentVolumeClaim !== undefined)
    return await options.directoryOfPvc(volume.persistentVolumeClaim.claimName);
  if (volume.hostPath !== undefined) throw new Failure('rejected', `volume "${volume.name}": ${hostPathRefusal}`);
  const directory = pathInside(join(options.directory, 'volumes'), volume.name, 'volume');
  if (volume.emptyDir !== undefined) {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o777);
    return directory;
  }
  await writePayload(directory, await filesOf(volume, options));
  return directory;
}

/** The files that the kubelet writes into a volume. */
async function filesOf(volume: Volume, options: VolumeOptions): Promise<readonly PayloadFile[]> {
  const { downwardAPI, projected } = volume;
  const mode = modeOf(volume);
  const keyed = keyedSource(volume);
  if (keyed !== undefined) return await keyedFiles(keyed, options.lookup, mode);
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items ?? [], options.pod, mode);
  if (projected === undefined)
    throw new Failure(
      'rejected',
      `volume "${volume.name}": the lab does not support this volume type; see docs/guide/lab.md`,
    );
  const parts = (projected.sources ?? []).map((source) => projectedFiles(source, options, mode));
  return (await Promise.all(parts)).flat();
}

const modeOf = ({ secret, configMap, downwardAPI, projected }: Volume): number =>
  (secret ?? configMap ?? downwardAPI ?? projected)?.defaultMode ?? defaultMode;

function keyedSource({ secret, configMap }: Volume): KeyedSource | undefined {
  if (secret !== undefined)
    return { kind: 'secret', name: secret.secretName ?? '', items: secret.items, optional: secret.optional };
  if (configMap === undefined) return undefined;
  return { kind: 'configMap', name: configMap.name ?? '', items: configMap.items, optional: configMap.optional };
}

/** The volume mounts of a container. */
export const mountsOf = (container: ContainerSpec, volumes: Readonly<Record<string, string>>): readonly Mount[] =>
  (container.volumeMounts ?? []).map(({ name, mountPath, subPath = '', readOnly = false }) => ({
    source: pathInside(volumes[name] ?? '', subPath, `subPath of volume "${name}"`),
    target: mountPath.replace(/\/+$/, ''),
    readOnly,
  }));

/** True if a volume's content can change without a change of the pod. */
export const mayChange = ({ spec }: Pod): boolean =>
  (spec?.volumes ?? []).some(({ secret, configMap, projected }) => secret ?? configMap ?? projected);
