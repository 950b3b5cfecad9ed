import { OversizedAnswer } from './answer-body.ts';
import type {
  KubeClient,
  Listed,
  ListOptions,
  Patch,
  RemoveOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { Connection } from './connection.ts';
import { unanswered } from './errors.ts';
import {
  type Answered,
  type Call,
  contentOf,
  defaultTimeoutSeconds,
  requestOf,
  sendCall,
  startDeadline,
} from './http-call.ts';
import { type KubeObject, keyOf, type NamespacedName, type Stored } from './object.ts';
import { PageSize } from './page-size.ts';
import { apiVersionOf, collectionPath, objectPath, type Resource, type Review, reviewPath } from './resource.ts';
import { eventIn, linesOf, type WatchEvent } from './watch-events.ts';

const defaultIdleSeconds = 90;

const patchTypes: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** The client of an API server over HTTP. `fieldManager` is the owner of the fields that this client sets. */
export class HttpKubeClient implements KubeClient {
  readonly #connection: Connection;
  readonly #fieldManager: string;

  constructor(connection: Connection, { fieldManager }: { readonly fieldManager: string }) {
    this.#connection = connection;
    this.#fieldManager = fieldManager;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    at: NamespacedName,
    options?: RequestOptions,
  ): Promise<Stored<T>> {
    return await this.#call({ verb: 'get', method: 'GET', ...objectTarget(resource, at), options });
  }

  async list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<Listed<T>> {
    const parts: Listed<T>[] = [];
    let count = 0;
    for await (const page of this.pages(resource, options)) {
      parts.push(page);
      count += page.items.length;
      if (count >= (options?.enough ?? Number.POSITIVE_INFINITY)) break;
    }
    return { items: parts.flatMap(({ items }) => items), resourceVersion: parts.at(-1)?.resourceVersion ?? '' };
  }

  async *pages<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): AsyncGenerator<Listed<T>> {
    const size = new PageSize(options.limit);
    const { each = <O>(object: O): O => object } = options;
    for (let next: string | undefined, isLast = false; !isLast; ) {
      const page = await this.#page(resource, { ...options, next }, size);
      if (page === undefined) continue; // the page was too large: retry with a smaller page
      const { items, metadata } = page.content;
      size.adapt({ bytes: page.bytes, objects: items.length });
      yield {
        items: items.map((item) => each(withTypeMeta(resource, item))),
        resourceVersion: metadata.resourceVersion,
      };
      next = metadata.continue;
      isLast = !next;
    }
  }

  async #page<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions & { readonly next: string | undefined },
    size: PageSize,
  ): Promise<Answered<ListBody<T>> | undefined> {
    const { next, namespace, labelSelector, fieldSelector } = options;
    const query = { limit: String(size.limit), continue: next, labelSelector, fieldSelector };
    const call = { verb: 'list', method: 'GET', ...collectionTarget(resource, namespace), query, options } as const;
    try {
      return await sendCall(this.#connection, { ...call, mostBytes: size.mostBytes });
    } catch (thrown) {
      if (isOversized(thrown) && size.shrink()) return undefined;
      throw thrown;
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>> {
    const { what, path: own } = objectTarget(resource, object.metadata, options?.subresource);
    // Objects are created in their collection, subresources at the object.
    const path = options?.subresource === undefined ? own.slice(0, own.lastIndexOf('/')) : own;
    const query = this.#writeQuery(options);
    return await this.#call({ verb: 'create', method: 'POST', what, path, query, body: object, options });
  }

  async update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>> {
    const target = objectTarget(resource, object.metadata, options?.subresource);
    const query = this.#writeQuery(options);
    return await this.#call({ verb: 'update', method: 'PUT', ...target, query, body: object, options });
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    at: NamespacedName,
    patch: Patch & WriteOptions,
  ): Promise<Stored<T>> {
    const force = patch.type === 'apply' && patch.force ? 'true' : undefined;
    return await this.#call({
      verb: 'patch',
      method: 'PATCH',
      ...objectTarget(resource, at, patch.subresource),
      query: { ...this.#writeQuery(patch), force },
      contentType: patchTypes[patch.type],
      body: patch.body,
      options: patch,
    });
  }

  async remove<T extends KubeObject>(
    resource: Resource<T>,
    at: NamespacedName,
    options: RemoveOptions = {},
  ): Promise<void> {
    const { preconditions, gracePeriodSeconds, propagationPolicy } = options;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, gracePeriodSeconds, propagationPolicy };
    await this.#call({ verb: 'delete', method: 'DELETE', ...objectTarget(resource, at), body, options });
  }

  async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const call = watchCall(resource, options);
    const described = `watch ${call.what}`;
    const { timeoutSeconds = defaultTimeoutSeconds, idleSeconds = defaultIdleSeconds } = options;
    const limits = { beginMillis: timeoutSeconds * 1000, pauseMillis: idleSeconds * 1000 };
    using deadline = startDeadline(limits.beginMillis * 2, options.signal);
    const { signal } = deadline;
    try {
      const answer = await this.#connection.request({ ...requestOf(call), ...limits, signal });
      deadline.lift();
      if (answer.statusCode !== 200) await contentOf(described, answer);
      for await (const line of linesOf(answer.body)) yield eventIn<T>(line, described);
    } catch (error) {
      throw unanswered(described, error, signal);
    }
  }

  async review<Spec, Status>(review: Review<Spec, Status>, spec: Spec, options?: RequestOptions): Promise<Status> {
    const body = { apiVersion: apiVersionOf(review), kind: review.kind, spec };
    const target = { what: review.plural, path: reviewPath(review) };
    const call = { verb: 'create', method: 'POST', ...target, body, options } as const;
    return (await this.#call<{ readonly status: Status }>(call)).status;
  }

  async read<T>(path: string, options?: RequestOptions): Promise<T> {
    return await this.#call({ verb: 'get', method: 'GET', what: path, path, options });
  }

  async #call<T>(call: Call): Promise<T> {
    return (await sendCall<T>(this.#connection, call)).content;
  }

  #writeQuery(options: WriteOptions = {}): NonNullable<Call['query']> {
    return { fieldManager: this.#fieldManager, dryRun: options.dryRun ? 'All' : undefined };
  }
}

const isOversized = (thrown: unknown): boolean => thrown instanceof Error && thrown.cause instanceof OversizedAnswer;

interface ListBody<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

function objectTarget<T extends KubeObject>(
  resource: Resource<T>,
  at: NamespacedName,
  subresource?: string,
): Pick<Call, 'what' | 'path'> {
  const below = subresource === undefined ? '' : `/${subresource}`;
  return { what: `${resource.plural}${below} ${keyOf(at)}`, path: objectPath(resource, at, subresource) };
}

function collectionTarget<T extends KubeObject>(
  resource: Resource<T>,
  namespace?: string,
): Pick<Call, 'what' | 'path'> {
  const what = namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`;
  return { what, path: collectionPath(resource, namespace) };
}

/** Adds apiVersion and kind, which the items of a list lack. */
const withTypeMeta = <T extends KubeObject>(resource: Resource<T>, item: Stored<T>): Stored<T> =>
  Object.assign({ apiVersion: apiVersionOf(resource), kind: resource.kind }, item);

function watchCall<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): Call {
  const { namespace, labelSelector, fieldSelector, resourceVersion, lastsSeconds } = options;
  const timeoutSeconds = lastsSeconds === undefined ? undefined : String(Math.ceil(lastsSeconds));
  const given = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
  const query = { watch: 'true', allowWatchBookmarks: 'true', ...given };
  return { verb: 'watch', method: 'GET', ...collectionTarget(resource, namespace), query };
}
