import type { KubeClient } from '../../../src/kube/client.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/object.ts';
import { persistentVolumeClaims, secrets } from '../../../src/kube/resource.ts';
import { Failure, unless } from '../../../src/std/failure.ts';
import { configMaps, persistentVolumes, tokenRequests } from '../../kinds.ts';
import { isInside } from '../../path-inside.ts';
import type { PodLookup, TokenOptions } from '../volumes/sources.ts';

/** A token is renewed after this share of its lifetime. */
const renewAfter = 0.8;

/** Reads Secrets, ConfigMaps, tokens and PVCs for one pod. */
export class ApiLookup implements PodLookup {
  readonly #client: KubeClient;
  readonly #pod: Pod;
  readonly #volumes: string;
  readonly #tokens = new Map<string, { readonly token: string; readonly until: number }>();

  /** `volumes` is the directory of the lab's persistent volumes. */
  constructor(client: KubeClient, pod: Pod, volumes: string) {
    this.#volumes = volumes;
    this.#client = client;
    this.#pod = pod;
  }

  readonly bytes: PodLookup['bytes'] = async (kind, name) => {
    const at = { namespace: this.#pod.metadata.namespace, name };
    if (kind === 'secret') {
      const secret = await unless('not-found', this.#client.get(secrets, at), undefined);
      return secret && decoded(secret.data ?? {}, 'base64');
    }
    const map = await unless('not-found', this.#client.get(configMaps, at), undefined);
    return map && { ...decoded(map.data ?? {}, 'utf8'), ...decoded(map.binaryData ?? {}, 'base64') };
  };

  readonly data = async (kind: 'configMap' | 'secret', name: string): Promise<Record<string, string> | undefined> => {
    const bytes = await this.bytes(kind, name);
    return bytes && Object.fromEntries(Object.entries(bytes).map(([key, value]) => [key, value.toString()]));
  };

  readonly token = async (options: TokenOptions): Promise<string> => {
    const key = JSON.stringify(options);
    const cached = this.#tokens.get(key);
    if (cached !== undefined && cached.until > Date.now()) return cached.token;
    const token = await this.#request(options);
    this.#tokens.set(key, { token, until: Date.now() + options.seconds * 1000 * renewAfter });
    return token;
  };

  /** The directory of a PVC. */
  readonly directoryOfPvc = async (pvc: string): Promise<string> => {
    const at = { namespace: this.#pod.metadata.namespace, name: pvc };
    const found = await unless('not-found', this.#client.get(persistentVolumeClaims, at), undefined);
    if (found === undefined) throw new Failure('not-found', `persistentvolumeclaim "${pvc}" not found`);
    const volume = boundVolume(found);
    if (volume === undefined)
      throw new Failure('not-found', `pod has unbound immediate PersistentVolumeClaims: ${pvc}`);
    const { spec } = await this.#client.get(persistentVolumes, { name: volume });
    const path = spec?.hostPath?.path;
    if (path === undefined)
      throw new Failure('rejected', `persistentvolume "${volume}" has no hostPath: the lab uses only its own volumes`);
    if (!isInside(this.#volumes, path))
      throw new Failure('rejected', `persistentvolume "${volume}": the lab uses only its own volumes, not ${path}`);
    return path;
  };

  async #request({ audience, seconds }: TokenOptions): Promise<string> {
    const { metadata, spec } = this.#pod;
    const { namespace, name: pod, uid } = metadata;
    const name = spec?.serviceAccountName ?? 'default';
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace, name },
      spec: {
        audiences: audience === undefined ? [] : [audience],
        expirationSeconds: seconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod, uid },
      },
    };
    const { status } = await this.#client.create(tokenRequests, request as never, { subresource: 'token' });
    return status?.token ?? '';
  }
}

const boundVolume = ({ spec, status }: PersistentVolumeClaim): string | undefined =>
  status?.phase === 'Bound' ? spec?.volumeName : undefined;

const decoded = (data: Readonly<Record<string, string>>, encoding: 'base64' | 'utf8'): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, encoding)]));
