import type { KubeClient } from '../../kube/client.ts';
import { type KubeObject, keyOf, type Stored } from '../../kube/object.ts';
import { secrets } from '../../kube/resource.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Failure } from '../../std/failure.ts';
import type { Tools } from './sources.ts';
import { type Ended, isSilent } from './visit.ts';

/** How long what was read of a Secret is taken for true: as long as nothing speaks against it, and when something does. */
const seconds = { trusted: 60, doubted: 1 } as const;

type Get = KubeClient['get'];
type Answer = Promise<Stored<KubeObject>>;

interface Entry {
  readonly answer: Answer;
  readonly at: number;
}

/**
 * The Secrets that passes over a resource have read. Secrets cannot be watched, because the operator may not list them, and to
 * read them in every pass would be most of what a pass asks of the API server.
 */
export class RememberedSecrets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #doubted = new Set<string>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size + this.#doubted.size;
  }

  /** Reads for a resource, identified by its key: Secrets from memory where that will do, all else as before. */
  reading(key: string, client: Pick<KubeClient, 'get'>): Get {
    const lifetime = (this.#doubted.delete(key) ? seconds.doubted : seconds.trusted) * 1000;
    return (resource, at, options) => {
      const ask = (): ReturnType<typeof client.get> => client.get(resource, at, options);
      if (resource.plural !== secrets.plural) return ask() as never;
      const known = this.#entries.get(key)?.get(keyOf(at));
      const isFresh = known !== undefined && this.#clock.monotonic() - known.at < lifetime;
      return (isFresh ? known.answer : this.#remember(key, keyOf(at), ask())) as never;
    };
  }

  /** Something speaks against what was read: what is older than a second is read again. */
  doubt(key: string): void {
    if (this.#entries.has(key)) this.#doubted.add(key);
  }

  forget(key: string): void {
    this.#entries.delete(key);
    this.#doubted.delete(key);
  }

  /** That a Secret is missing, or may not be read, is an answer; that the API server is out of reach is none. */
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

/** For observing only: steps read Secrets themselves. */
export const withRememberedSecrets = (key: string, tools: Tools): Tools =>
  tools.secrets === undefined ? tools : { ...tools, client: { get: tools.secrets.reading(key, tools.client) } };

/** Secrets are doubted where another content of one may be what a pass lacked. */
export function doubtSecrets(key: string, pass: Ended, { secrets: remembered }: Pick<Tools, 'secrets'>): void {
  if (isLacking(pass)) remembered?.doubt(key);
}

const isLacking = ({ observed: { world }, trouble }: Ended): boolean =>
  world.secretProblems.length > 0 ||
  world.unneededSecret !== undefined ||
  trouble.failure !== undefined ||
  isSilent(world) ||
  (world.membership.seen && world.membership.value.members.some(({ health }) => health === 'silent'));
