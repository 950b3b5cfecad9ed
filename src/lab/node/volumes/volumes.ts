import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Volume } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { pathInside } from '../../inside.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { Mount } from '../image/image.ts';
import { type PayloadFile, writePayload } from './payload.ts';
import { downwardFiles, type KeyedSource, keyedFiles, type PodLookup, projectedFiles } from './sources.ts';

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

const noHostPaths =
  'the lab refuses hostPath, because its pods run as your own user and could read all your files: use an emptyDir or a ' +
  'PersistentVolumeClaim';

/** Makes a pod's volumes, or brings them up to date; gives the directory of each by its name. */
export async function makeVolumes(options: VolumeOptions): Promise<Readonly<Record<string, string>>> {
  const made = (options.pod.spec?.volumes ?? []).map(
    async (volume): Promise<[string, string]> => [volume.name, await directoryOf(volume, options)],
  );
  // All are let finish, also when one fails: the next attempt must not meet a volume that is still being written.
  await Promise.allSettled(made);
  return Object.fromEntries(await Promise.all(made));
}

async function directoryOf(volume: Volume, options: VolumeOptions): Promise<string> {
  if (volume.persistentVolumeClaim !== undefined) return await options.claimed(volume.persistentVolumeClaim.claimName);
  if (volume.hostPath !== undefined) throw new Failure('rejected', `volume "${volume.name}": ${noHostPaths}`);
  const directory = pathInside(join(options.directory, 'volumes'), volume.name, 'volume');
  if (volume.emptyDir !== undefined) {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o777);
    return directory;
  }
  await writePayload(directory, await filesOf(volume, options));
  return directory;
}

/** The files of a volume that the node writes. */
async function filesOf(volume: Volume, options: VolumeOptions): Promise<readonly PayloadFile[]> {
  const { downwardAPI, projected } = volume;
  const mode = modeOf(volume);
  const keyed = keyedSource(volume);
  if (keyed !== undefined) return await keyedFiles(keyed, options.lookup, mode);
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items ?? [], options.pod, mode);
  if (projected === undefined)
    throw new Failure('rejected', `volume "${volume.name}": the lab does not know this kind`);
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

/** What of the pod's volumes one container sees, and where. */
export const mountsOf = (container: ContainerSpec, volumes: Readonly<Record<string, string>>): readonly Mount[] =>
  (container.volumeMounts ?? []).map(({ name, mountPath, subPath = '', readOnly = false }) => ({
    source: pathInside(volumes[name] ?? '', subPath, `subPath of volume "${name}"`),
    target: mountPath.replace(/\/+$/, ''),
    readOnly,
  }));

/** Whether what is in a volume may change without the pod being changed. */
export const mayChange = ({ spec }: Pod): boolean =>
  (spec?.volumes ?? []).some(({ secret, configMap, projected }) => secret ?? configMap ?? projected);
