import type {
  KubeClient,
  ListOptions,
  Patch,
  RemoveOptions,
  WatchOptions,
  WriteOptions,
} from '../../../src/kube/client.ts';
import { ApiFailure } from '../../../src/kube/errors.ts';
import { type KubeObject, keyOf, type NamespacedName } from '../../../src/kube/object.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import type { Process } from '../world/process.ts';
import type { ApiServer } from './api-server.ts';
import type { SimulatedObject } from './objects.ts';
import { type RequestParts, SimulatedRequest } from './request.ts';
import { WatchStream } from './watch-stream.ts';

/** A write of the operator, as the API server is about to do it. */
export interface OperatorWrite {
  readonly process: Process;
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  readonly resource: Resource<KubeObject>;
  readonly at: NamespacedName;
  readonly body?: object;
  readonly preconditions?: RemoveOptions['preconditions'];
}

export interface ClientParts extends RequestParts {
  readonly api: ApiServer;
  /** Called right before a write is done. */
  readonly onWrite: (write: OperatorWrite) => void;
}

type AnyResource = Resource<KubeObject>;

/** The client of one process. Each request may fail in all ways that a network and a server have. */
class SimulatedClient {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  get(resource: AnyResource, at: NamespacedName, options?: WriteOptions): Promise<SimulatedObject> {
    const perform = (): SimulatedObject => this.#parts.api.get(resource, at);
    return new SimulatedRequest({ verb: 'get', resource, what: keyOf(at), options, perform }, this.#parts).start();
  }

  list(resource: AnyResource, options: ListOptions = {}): Promise<object> {
    const { api } = this.#parts;
    const perform = (): object => ({ items: api.list(resource, options), resourceVersion: String(api.version) });
    return new SimulatedRequest({ verb: 'list', resource, what: '', options, perform }, this.#parts).start();
  }

  async *pages(resource: AnyResource, options?: ListOptions): AsyncGenerator<object> {
    yield await this.list(resource, options);
  }

  create(resource: AnyResource, object: KubeObject, options?: WriteOptions): Promise<SimulatedObject> {
    const about = { verb: 'create', resource, at: object.metadata, body: object } as const;
    return this.#write(about, options, (api) => api.create(resource, object));
  }

  update(resource: AnyResource, object: KubeObject, options?: WriteOptions): Promise<SimulatedObject> {
    const about = { verb: 'update', resource, at: object.metadata, body: object } as const;
    return this.#write(about, options, (api) => api.update(resource, object));
  }

  patch(resource: AnyResource, at: NamespacedName, patch: Patch & WriteOptions): Promise<SimulatedObject> {
    const about = { verb: 'patch', resource, at, body: patch.body } as const;
    return this.#write(about, patch, (api) => api.patch(resource, at, patch));
  }

  remove(resource: AnyResource, at: NamespacedName, options: RemoveOptions = {}): Promise<void> {
    const about = { verb: 'delete', resource, at, preconditions: options.preconditions } as const;
    return this.#write(about, options, (api) => api.remove(resource, at, options));
  }

  watch(resource: AnyResource, options: WatchOptions): WatchStream {
    const { resourceVersion, lastsSeconds = 300, signal } = options;
    const lastsMillis = lastsSeconds * 1000;
    const request = { kind: resource, selection: options, from: Number(resourceVersion), lastsMillis, signal };
    return new WatchStream(this.#parts, request);
  }

  review(): Promise<never> {
    return Promise.reject(new ApiFailure('forbidden', 'reviews are not simulated'));
  }

  read(): Promise<never> {
    return Promise.reject(new ApiFailure('forbidden', 'paths are not simulated'));
  }

  #write<T>(
    about: Omit<OperatorWrite, 'process'>,
    options: WriteOptions | undefined,
    write: (api: ApiServer) => T,
  ): Promise<T> {
    const { api, process, onWrite } = this.#parts;
    const { verb, resource, at } = about;
    const perform = (): T => {
      onWrite({ ...about, process });
      return write(api);
    };
    return new SimulatedRequest({ verb, resource, what: keyOf(at), options, perform }, this.#parts).start();
  }
}

export const simulatedClient = (parts: ClientParts): KubeClient => new SimulatedClient(parts) as unknown as KubeClient;
