import { once } from 'node:events';
import type {
  DescMessage,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Credentials, placeOf } from './endpoint.ts';
import { failureOf, isRefusal } from './errors.ts';
import { AlarmRequest_AlarmAction, Auth } from './gen/etcd_pb.ts';
import { CallLimit } from './limit.ts';
import type { Line } from './line.ts';
import type { Session } from './session.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer; of a stream, for its next part. */
  readonly timeoutMillis?: number | undefined;
}

export interface StreamOptions extends CallOptions {
  /** Set where a stream may be silent for as long as it likes once it has begun. */
  readonly patient?: true;
}

export interface AskOptions extends CallOptions {
  /** Set where the answer holds what users keep in etcd, and may be large. */
  readonly bulk?: true;
}

/** A call on its way: what for, on which connection, until when. */
interface Running {
  readonly name: string;
  readonly session: Session;
  readonly limit: CallLimit;
}

/** What a call needs to be let in, and until when. */
interface Entry {
  readonly limit: CallLimit;
  readonly token: string;
  readonly bulk?: true | undefined;
}

interface OpenStream<T> extends Disposable {
  readonly first: IteratorResult<T>;
  readonly next: () => Promise<IteratorResult<T>>;
}

export type TokenElsewhere = (signal: AbortSignal) => Promise<string>;

interface CallerSettings {
  /** How long an answer may take where the caller does not say. */
  readonly usualMillis: number;
  readonly tokenElsewhere?: TokenElsewhere | undefined;
  /** Called right before a request is sent that may change something; the request is not sent if this throws. */
  readonly confirmChange?: (() => void) | undefined;
}

/** Requests that change nothing. A request that is not named here counts as a change. */
const asking: ReadonlySet<string> = new Set([
  ...['Status', 'Range', 'MemberList', 'Authenticate', 'HashKV'],
  ...['Snapshot', 'Watch'],
]);

/** One method lists alarms, raises them and disarms them. */
const isChange = (method: string, request: object): boolean =>
  method === 'Alarm' ? Reflect.get(request, 'action') !== AlarmRequest_AlarmAction.GET : !asking.has(method);

/** Sends calls to one member: each with a time limit, each with a token where there are users, each failing in our words. */
export class Caller {
  readonly #line: Line;
  readonly #usualMillis: number;
  readonly #tokenElsewhere: TokenElsewhere | undefined;
  readonly #confirmChange: (() => void) | undefined;
  /** What Authenticate gave; empty when the server has no users. */
  #token: string | undefined;

  constructor(line: Line, { usualMillis, tokenElsewhere, confirmChange }: CallerSettings) {
    this.#line = line;
    this.#usualMillis = usualMillis;
    this.#tokenElsewhere = tokenElsewhere;
    this.#confirmChange = confirmChange;
  }

  /** A token for this user, whoever the endpoint says we are. */
  async authenticate(
    { user, password }: Credentials,
    { signal, timeoutMillis = this.#usualMillis }: CallOptions = {},
  ): Promise<string> {
    using limit = new CallLimit(timeoutMillis, signal);
    const request = { name: user, password };
    const ask = () => this.#askOnce(Auth.method.authenticate, request, { limit, token: '' });
    return (await limit.within(ask)).token;
  }

  /** One question, one answer. */
  async ask<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { signal, timeoutMillis = this.#usualMillis, bulk }: AskOptions = {},
  ): Promise<MessageShape<O>> {
    using limit = new CallLimit(timeoutMillis, signal);
    const askWith = (token: string): Promise<MessageShape<O>> => this.#askOnce(method, request, { limit, token, bulk });
    return await limit.within(() => this.#withToken(limit, askWith));
  }

  /** One question, many answers. Nothing is read ahead of whoever consumes them; to stop consuming ends the call. */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    request: MessageInitShape<I>,
    { signal, timeoutMillis = this.#usualMillis, patient }: StreamOptions = {},
  ): AsyncGenerator<MessageShape<O>, void, undefined> {
    using limit = new CallLimit(timeoutMillis, signal);
    const openWith = (token: string): Promise<OpenStream<MessageShape<O>>> =>
      this.#run(method.name, limit, (running) => this.#open(running, method, { request, token }));
    using stream = await limit.within(() => this.#withToken(limit, openWith));
    for (let part = stream.first; part.done !== true; ) {
      yield part.value;
      part = patient === true ? await stream.next() : await limit.within(stream.next);
    }
  }

  #askOnce<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { limit, token, bulk }: Entry,
  ): Promise<MessageShape<O>> {
    return this.#run(method.name, limit, async ({ session }) => {
      limit.confirm();
      if (isChange(method.name, request)) this.#confirmChange?.();
      using _call = session.beginCall();
      const transport = bulk === true ? session.bulkTransport : session.transport;
      return (await transport.unary(method, limit.signal, limit.millis, headers(token), request)).message;
    });
  }

  /** Opens a stream and waits for its first part: only then do we know that we were let in. */
  async #open<I extends DescMessage, O extends DescMessage>(
    running: Running,
    method: DescMethodStreaming<I, O>,
    { request, token }: { readonly request: MessageInitShape<I>; readonly token: string },
  ): Promise<OpenStream<MessageShape<O>>> {
    const { session, limit } = running;
    if (isChange(method.name, request)) this.#confirmChange?.();
    using call = new DisposableStack();
    call.use(session.beginCall());
    const input = method.methodKind === 'bidi_streaming' ? heldOpen(request, limit.signal) : single(request);
    const answer = await session.bulkTransport.stream(method, limit.signal, undefined, headers(token), input);
    const parts = answer.message[Symbol.asyncIterator]();
    const first = await parts.next();
    const openCall = call.move();
    return {
      first,
      next: () => this.#translating(running, () => parts.next()),
      [Symbol.dispose]: () => openCall.dispose(),
    };
  }

  async #run<T>(name: string, limit: CallLimit, work: (running: Running) => Promise<T>): Promise<T> {
    const running = { name, limit, session: this.#line.session() };
    return await this.#translating(running, () => work(running));
  }

  async #translating<T>({ name, session, limit }: Running, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (limit.ended === 'timed-out' || isDeadline(thrown)) session.retire();
      const what = `etcd ${name} at ${placeOf(this.#line.endpoint)}`;
      throw failureOf(thrown, { what, ended: limit.ended, timeoutMillis: limit.millis });
    }
  }

  /** A token ends with its time, with the member that gave it, and with every change to users: then we ask for another, once. */
  async #withToken<T>(limit: CallLimit, call: (token: string) => Promise<T>): Promise<T> {
    const { credentials } = this.#line.endpoint;
    if (credentials === undefined) return await call('');
    this.#token ??= await this.#tokenFor(credentials, limit);
    try {
      return await call(this.#token);
    } catch (thrown) {
      if (!wantsToken(thrown, this.#token)) throw thrown;
      this.#token = await this.#tokenFor(credentials, limit);
      return await call(this.#token);
    }
  }

  async #tokenFor({ user, password }: Credentials, limit: CallLimit): Promise<string> {
    try {
      const request = { name: user, password };
      return (await this.#askOnce(Auth.method.authenticate, request, { limit, token: '' })).token;
    } catch (thrown) {
      if (isRefusal(thrown, 'auth-not-enabled')) return '';
      // A learner gives no tokens, but knows those that others gave.
      if (isRefusal(thrown, 'is-learner')) return (await this.#tokenElsewhere?.(limit.signal)) ?? '';
      throw thrown;
    }
  }
}

/** Without a token etcd takes the name in our certificate for a user's, who may be unknown or may not do what ours may. */
const wantsToken = (thrown: unknown, token: string): boolean =>
  isRefusal(thrown, 'invalid-token', 'old-token', 'auth-needed') ||
  (token === '' && isRefusal(thrown, 'user-not-found', 'permission-denied'));

const headers = (token: string): Record<string, string> => (token === '' ? {} : { token });

const isDeadline = (thrown: unknown): boolean =>
  thrown instanceof ConnectError && thrown.code === Code.DeadlineExceeded;

async function* single<T>(request: T): AsyncGenerator<T> {
  yield request;
}

/** Says one thing and stays on the line: the other side would take the end of our half for the end of the call. */
async function* heldOpen<T>(request: T, signal: AbortSignal): AsyncGenerator<T> {
  yield request;
  if (!signal.aborted) await once(signal, 'abort');
}
