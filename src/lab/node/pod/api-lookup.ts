import type { KubeClient } from '../../../kube/client.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/object.ts';
import { persistentVolumeClaims, secrets } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { isInside } from '../../inside.ts';
import { configMaps, persistentVolumes, tokenRequests } from '../../kinds.ts';
import type { PodLookup, TokenWish } from '../volumes/sources.ts';

/** A token is renewed when this share of its life is over. */
const renewAfter = 0.8;

/** What one pod needs from the API server. */
export class ApiLookup implements PodLookup {
  readonly #client: KubeClient;
  readonly #pod: Pod;
  readonly #volumes: string;
  readonly #tokens = new Map<string, { readonly token: string; readonly until: number }>();

  /** `volumes` is where the lab keeps its persistent volumes. */
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

  readonly token = async (wish: TokenWish): Promise<string> => {
    const key = JSON.stringify(wish);
    const known = this.#tokens.get(key);
    if (known !== undefined && known.until > Date.now()) return known.token;
    const token = await this.#request(wish);
    this.#tokens.set(key, { token, until: Date.now() + wish.seconds * 1000 * renewAfter });
    return token;
  };

  /** The directory behind a claim. */
  readonly claimed = async (claim: string): Promise<string> => {
    const at = { namespace: this.#pod.metadata.namespace, name: claim };
    const found = await unless('not-found', this.#client.get(persistentVolumeClaims, at), undefined);
    if (found === undefined) throw new Failure('not-found', `persistentvolumeclaim "${claim}" not found`);
    const volume = boundVolume(found);
    if (volume === undefined)
      throw new Failure('not-found', `pod has unbound immediate PersistentVolumeClaims: ${claim}`);
    const { spec } = await this.#client.get(persistentVolumes, { name: volume });
    const path = spec?.hostPath?.path;
    if (path === undefined)
      throw new Failure('rejected', `persistentvolume "${volume}" is no directory of this machine`);
    if (!isInside(this.#volumes, path))
      throw new Failure('rejected', `persistentvolume "${volume}": the lab uses only volumes of its own, not ${path}`);
    return path;
  };

  async #request({ audience, seconds }: TokenWish): Promise<string> {
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
