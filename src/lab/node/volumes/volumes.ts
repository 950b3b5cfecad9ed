import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Volume } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { Mount } from '../image/image.ts';
import { type PayloadFile, writePayload } from './payload.ts';
import { downwardFiles, keyedFiles, type PodLookup, projectedFiles } from './sources.ts';

type Volume = Json<V1Volume>;

export interface VolumeOptions {
  readonly pod: Pod;
  /** The pod's own directory on this node. */
  readonly directory: string;
  readonly lookup: PodLookup;
  /** The directory behind a claim; a Failure says why there is none yet. */
  readonly claimed: (claim: string) => Promise<string>;
}

const defaultMode = 0o644;

/** Makes a pod's volumes, or brings them up to date; gives the directory of each by its name. */
export async function makeVolumes(options: VolumeOptions): Promise<Readonly<Record<string, string>>> {
  const made = (options.pod.spec?.volumes ?? []).map(
    async (volume): Promise<[string, string]> => [volume.name, await directoryOf(volume, options)],
  );
  return Object.fromEntries(await Promise.all(made));
}

async function directoryOf(volume: Volume, options: VolumeOptions): Promise<string> {
  if (volume.persistentVolumeClaim !== undefined) return await options.claimed(volume.persistentVolumeClaim.claimName);
  if (volume.hostPath !== undefined) return volume.hostPath.path;
  const directory = join(options.directory, 'volumes', volume.name);
  if (volume.emptyDir !== undefined) {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o777);
    return directory;
  }
  await writePayload(directory, await filesOf(volume, options));
  return directory;
}

async function filesOf(volume: Volume, { pod, lookup }: VolumeOptions): Promise<readonly PayloadFile[]> {
  const { secret, configMap, downwardAPI, projected } = volume;
  if (secret !== undefined) {
    const { secretName: name = '', items, optional } = secret;
    return await keyedFiles({ kind: 'secret', name, items, optional }, lookup, secret.defaultMode ?? defaultMode);
  }
  if (configMap !== undefined) {
    const { name = '', items, optional } = configMap;
    return await keyedFiles({ kind: 'configMap', name, items, optional }, lookup, configMap.defaultMode ?? defaultMode);
  }
  if (downwardAPI !== undefined)
    return downwardFiles(downwardAPI.items ?? [], pod, downwardAPI.defaultMode ?? defaultMode);
  if (projected === undefined)
    throw new Failure('rejected', `volume "${volume.name}": the lab does not know this kind`);
  const mode = projected.defaultMode ?? defaultMode;
  const parts = (projected.sources ?? []).map((source) => projectedFiles(source, { pod, lookup }, mode));
  return (await Promise.all(parts)).flat();
}

/** What of the pod's volumes one container sees, and where. */
export const mountsOf = (container: ContainerSpec, volumes: Readonly<Record<string, string>>): readonly Mount[] =>
  (container.volumeMounts ?? []).map(({ name, mountPath, subPath = '', readOnly = false }) => ({
    source: join(volumes[name] ?? '', subPath),
    target: mountPath.replace(/\/+$/, ''),
    readOnly,
  }));

/** Whether what is in a volume may change without the pod being changed. */
export const mayChange = ({ spec }: Pod): boolean =>
  (spec?.volumes ?? []).some(({ secret, configMap, projected }) => secret ?? configMap ?? projected);
