import type {
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1ServiceAccountTokenProjection,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import { Failure } from '../../../src/std/failure.ts';
import { fieldOf, resourceFieldOf } from '../container/fields.ts';
import type { PayloadFile } from './payload.ts';

/** Reads from the API server on behalf of one pod. */
export interface PodLookup {
  readonly bytes: (kind: 'configMap' | 'secret', name: string) => Promise<Readonly<Record<string, Buffer>> | undefined>;
  readonly token: (request: TokenOptions) => Promise<string>;
}

export interface TokenOptions {
  readonly audience?: string;
  readonly seconds: number;
}

export interface KeyedSource {
  readonly kind: 'configMap' | 'secret';
  readonly name: string;
  readonly items?: readonly Json<V1KeyToPath>[] | undefined;
  readonly optional?: boolean | undefined;
}

const defaultTokenSeconds = 3607;

/** The files of a Secret or ConfigMap. */
export async function keyedFiles(
  source: KeyedSource,
  lookup: PodLookup,
  mode: number,
): Promise<readonly PayloadFile[]> {
  const data = await lookup.bytes(source.kind, source.name);
  if (data === undefined && source.optional !== true)
    throw new Failure('not-found', `${source.kind.toLowerCase()} "${source.name}" not found`);
  const items: readonly Json<V1KeyToPath>[] =
    source.items ?? Object.keys(data ?? {}).map((key) => ({ key, path: key }));
  return items.flatMap((item) => {
    const content = data?.[item.key];
    if (content !== undefined) return [{ path: item.path, content, mode: item.mode ?? mode }];
    if (source.optional === true) return [];
    throw new Failure('not-found', `references non-existent ${source.kind.toLowerCase()} key: ${item.key}`);
  });
}

/** The files of a downward API volume. */
export const downwardFiles = (
  items: readonly Json<V1DownwardAPIVolumeFile>[],
  pod: Pod,
  mode: number,
): readonly PayloadFile[] =>
  items.map((item) => ({ path: item.path, content: Buffer.from(downwardValue(item, pod)), mode: item.mode ?? mode }));

function downwardValue({ fieldRef, resourceFieldRef }: Json<V1DownwardAPIVolumeFile>, pod: Pod): string {
  if (fieldRef !== undefined) return fieldOf(pod, fieldRef.fieldPath);
  const container = pod.spec?.containers.find(({ name }) => name === resourceFieldRef?.containerName);
  if (resourceFieldRef === undefined || container === undefined) return '';
  return resourceFieldOf(container, resourceFieldRef);
}

/** The files of one source of a projected volume. */
export async function projectedFiles(
  source: Json<V1VolumeProjection>,
  { pod, lookup }: { readonly pod: Pod; readonly lookup: PodLookup },
  mode: number,
): Promise<readonly PayloadFile[]> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items ?? [], pod, mode);
  if (serviceAccountToken !== undefined) return [await tokenFile(serviceAccountToken, lookup, mode)];
  const kind = secret === undefined ? 'configMap' : 'secret';
  const { name = '', items, optional } = secret ?? configMap ?? {};
  return await keyedFiles({ kind, name, items, optional }, lookup, mode);
}

async function tokenFile(
  { audience, expirationSeconds: seconds = defaultTokenSeconds, path }: Json<V1ServiceAccountTokenProjection>,
  lookup: PodLookup,
  mode: number,
): Promise<PayloadFile> {
  const token = await lookup.token({ seconds, ...(audience === undefined ? {} : { audience }) });
  return { path, content: Buffer.from(token), mode };
}
