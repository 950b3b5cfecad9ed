import type { KubeClient } from '../../../kube/client.ts';
import { type KubeObject, keyOf, type Stored } from '../../../kube/object.ts';
import { secrets } from '../../../kube/resource.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { type Ended, isSilent } from '../visit.ts';

/** The lifetime of a cached Secret, and its lifetime after an invalidation. */
const seconds = { valid: 60, invalidated: 1 } as const;

type Get = KubeClient['get'];
type Answer = Promise<Stored<KubeObject>>;

interface Entry {
  readonly answer: Answer;
  readonly at: number;
}

/**
 * Caches the Secrets that passes read. Secrets cannot be watched, because the operator may not list them. Without a
 * cache, most requests of a pass would be reads of Secrets.
 */
export class SecretCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #invalidated = new Set<string>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size + this.#invalidated.size;
  }

  /**
   * Returns a read function for the passes of one resource: Secrets come from the cache, other objects from the API
   * server.
   */
  reading(key: string, client: Pick<KubeClient, 'get'>): Get {
    const lifetime = (this.#invalidated.delete(key) ? seconds.invalidated : seconds.valid) * 1000;
    return (resource, at, options) => {
      const ask = (): ReturnType<typeof client.get> => client.get(resource, at, options);
      if (resource.plural !== secrets.plural) return ask() as never;
      const known = this.#entries.get(key)?.get(keyOf(at));
      const isFresh = known !== undefined && this.#clock.monotonic() - known.at < lifetime;
      return (isFresh ? known.answer : this.#remember(key, keyOf(at), ask())) as never;
    };
  }

  /** Limits the lifetime of the cached Secrets of a resource to a second for its next pass. */
  invalidate(key: string): void {
    if (this.#entries.has(key)) this.#invalidated.add(key);
  }

  forget(key: string): void {
    this.#entries.delete(key);
    this.#invalidated.delete(key);
  }

  /** A missing or forbidden Secret is cached too; an unreachable API server is not. */
  #remember(key: string, at: string, answer: Answer): Answer {
    const entries = this.#entries.get(key) ?? new Map<string, Entry>();
    const entry = { answer, at: this.#clock.monotonic() };
    this.#entries.set(key, entries.set(at, entry));
    answer.catch((thrown: unknown) => {
      const { kind } = Failure.from(thrown);
      if (kind !== 'not-found' && kind !== 'forbidden' && entries.get(at) === entry) entries.delete(at);
    });
    return answer;
  }
}

/** For observations only: steps read Secrets from the API server. */
export const withCachedSecrets = (key: string, context: ControllerContext): ControllerContext =>
  context.secrets === undefined
    ? context
    : { ...context, client: { get: context.secrets.reading(key, context.client) } };

/** Invalidates the cached Secrets if a changed Secret may resolve the problem of the pass. */
export function invalidateSecrets(
  key: string,
  pass: Ended,
  { secrets: cache }: Pick<ControllerContext, 'secrets'>,
): void {
  if (mayNeedOtherSecret(pass)) cache?.invalidate(key);
}

const mayNeedOtherSecret = ({ observed: { world }, trouble }: Ended): boolean =>
  world.secretProblems.length > 0 ||
  world.unneededSecret !== undefined ||
  trouble.failure !== undefined ||
  isSilent(world) ||
  (world.membership.seen && world.membership.value.members.some(({ health }) => health === 'silent'));
