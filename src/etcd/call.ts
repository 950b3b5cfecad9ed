import { once } from 'node:events';
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { MemberConnection } from './connection.ts';
import { type CallClock, CallDeadline } from './deadline.ts';
import { type Credentials, endpointLabel } from './endpoint.ts';
import { etcdFailureOf, isRefusal } from './errors.ts';
import { AlarmRequest_AlarmAction, Auth } from './gen/etcd_pb.ts';
import type { MemberSession } from './session.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time-out of the answer; of a stream, for each part. */
  readonly timeoutMillis?: number | undefined;
}

export interface StreamOptions extends CallOptions {
  /** The stream has no time-out after its first part. */
  readonly mayIdle?: true;
}

export interface AskOptions extends CallOptions {
  /** The answer contains user data and may be large. */
  readonly bulk?: true;
}

/** A running call: its method, session and deadline. */
interface Running {
  readonly name: string;
  readonly session: MemberSession;
  readonly deadline: CallDeadline;
}

/** The token and deadline of a request. */
interface RequestContext {
  readonly deadline: CallDeadline;
  readonly token: string;
  readonly bulk?: true | undefined;
}

interface OpenStream<T> extends Disposable {
  readonly first: IteratorResult<T>;
  readonly next: () => Promise<IteratorResult<T>>;
}

export type TokenFromOtherMember = (signal: AbortSignal) => Promise<string>;

interface CallerSettings {
  /** The default time-out of a call. */
  readonly defaultMillis: number;
  readonly tokenFromOtherMember?: TokenFromOtherMember | undefined;
  /** Called right before a write request is sent. If it throws, nothing is sent. */
  readonly confirmWrite?: (() => void) | undefined;
  /** Measures time-outs; by default the clock of the process. */
  readonly clock?: CallClock | undefined;
}

/** Read-only methods. Any other method counts as a write. */
const readOnlyMethods: ReadonlySet<string> = new Set([
  ...['Status', 'Range', 'MemberList', 'Authenticate', 'HashKV'],
  ...['Snapshot', 'Watch'],
]);

/** The method Alarm lists, raises and disarms alarms, depending on its action. */
const isWrite = (method: string, request: object): boolean =>
  method === 'Alarm' ? Reflect.get(request, 'action') !== AlarmRequest_AlarmAction.GET : !readOnlyMethods.has(method);

/** Sends calls to one member, with a deadline and, if etcd has users, a token. Errors are thrown as an EtcdFailure. */
export class Caller {
  readonly #connection: MemberConnection;
  readonly #defaultMillis: number;
  readonly #tokenFromOtherMember: TokenFromOtherMember | undefined;
  readonly #confirmWrite: (() => void) | undefined;
  readonly #clock: CallClock | undefined;
  /** The auth token; empty if authentication is disabled. */
  #token: string | undefined;

  constructor(connection: MemberConnection, settings: CallerSettings) {
    this.#connection = connection;
    this.#defaultMillis = settings.defaultMillis;
    this.#tokenFromOtherMember = settings.tokenFromOtherMember;
    this.#confirmWrite = settings.confirmWrite;
    this.#clock = settings.clock;
  }

  /** Gets a token for this user, regardless of the credentials of the endpoint. */
  async authenticate(
    { user, password }: Credentials,
    { signal, timeoutMillis = this.#defaultMillis }: CallOptions = {},
  ): Promise<string> {
    using deadline = new CallDeadline(timeoutMillis, signal, this.#clock);
    const request = { name: user, password };
    const ask = () => this.#askOnce(Auth.method.authenticate, request, { deadline, token: '' });
    return (await deadline.within(ask)).token;
  }

  /** A unary call. */
  async ask<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { signal, timeoutMillis = this.#defaultMillis, bulk }: AskOptions = {},
  ): Promise<MessageShape<O>> {
    using deadline = new CallDeadline(timeoutMillis, signal, this.#clock);
    const askWith = (token: string): Promise<MessageShape<O>> =>
      this.#askOnce(method, request, { deadline, token, bulk });
    return await deadline.within(() => this.#withToken(deadline, askWith));
  }

  /** A streaming call. Parts are read only as they are consumed; ending the iteration ends the call. */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    request: MessageInitShape<I>,
    { signal, timeoutMillis = this.#defaultMillis, mayIdle }: StreamOptions = {},
  ): AsyncGenerator<MessageShape<O>, void, undefined> {
    using deadline = new CallDeadline(timeoutMillis, signal, this.#clock);
    const openWith = (token: string): Promise<OpenStream<MessageShape<O>>> =>
      this.#run(method.name, deadline, (running) => this.#open(running, method, { request, token }));
    using stream = await deadline.within(() => this.#withToken(deadline, openWith));
    for (let part = stream.first; part.done !== true; ) {
      yield part.value;
      part = mayIdle === true ? await stream.next() : await deadline.within(stream.next);
    }
  }

  #askOnce<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { deadline, token, bulk }: RequestContext,
  ): Promise<MessageShape<O>> {
    const confirm = (): void => {
      deadline.confirm();
      if (isWrite(method.name, request)) this.#confirmWrite?.();
    };
    return this.#run(method.name, deadline, async ({ session }) => {
      using _call = session.beginCall();
      const { signal, millis } = deadline;
      const message = toBinary(method.input, create(method.input, request));
      const path = `/${method.parent.typeName}/${method.name}`;
      return parsed(method.output, await session.unary({ path, message, token, signal, millis, bulk, confirm }));
    });
  }

  /** Opens a stream and waits for its first part, which proves that the token was accepted. */
  async #open<I extends DescMessage, O extends DescMessage>(
    running: Running,
    method: DescMethodStreaming<I, O>,
    { request, token }: { readonly request: MessageInitShape<I>; readonly token: string },
  ): Promise<OpenStream<MessageShape<O>>> {
    const { session, deadline } = running;
    if (isWrite(method.name, request)) this.#confirmWrite?.();
    using call = new DisposableStack();
    call.use(session.beginCall());
    const input = method.methodKind === 'bidi_streaming' ? heldOpen(request, deadline.signal) : single(request);
    const answer = await session.bulkTransport.stream(method, deadline.signal, undefined, headers(token), input);
    const parts = answer.message[Symbol.asyncIterator]();
    const first = await parts.next();
    const openCall = call.move();
    return {
      first,
      next: () => this.#translating(running, () => parts.next()),
      [Symbol.dispose]: () => openCall.dispose(),
    };
  }

  async #run<T>(name: string, deadline: CallDeadline, work: (running: Running) => Promise<T>): Promise<T> {
    const running = { name, deadline, session: this.#connection.session() };
    return await this.#translating(running, () => work(running));
  }

  async #translating<T>({ name, session, deadline }: Running, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (deadline.ended === 'timed-out' || isDeadline(thrown)) session.retire();
      const what = `etcd ${name} at ${endpointLabel(this.#connection.endpoint)}`;
      throw etcdFailureOf(thrown, { what, ended: deadline.ended, timeoutMillis: deadline.millis });
    }
  }

  /**
   * Runs a call with a token. A refused token is renewed once: it expires, and ends with its member or a change of
   * users.
   */
  async #withToken<T>(deadline: CallDeadline, call: (token: string) => Promise<T>): Promise<T> {
    const { credentials } = this.#connection.endpoint;
    if (credentials === undefined) return await call('');
    this.#token ??= await this.#tokenFor(credentials, deadline);
    try {
      return await call(this.#token);
    } catch (thrown) {
      if (!needsToken(thrown, this.#token)) throw thrown;
      this.#token = await this.#tokenFor(credentials, deadline);
      return await call(this.#token);
    }
  }

  async #tokenFor({ user, password }: Credentials, deadline: CallDeadline): Promise<string> {
    try {
      const request = { name: user, password };
      return (await this.#askOnce(Auth.method.authenticate, request, { deadline, token: '' })).token;
    } catch (thrown) {
      if (isRefusal(thrown, 'auth-not-enabled')) return '';
      // A learner issues no tokens, but accepts tokens of other members.
      if (isRefusal(thrown, 'is-learner')) return (await this.#tokenFromOtherMember?.(deadline.signal)) ?? '';
      throw thrown;
    }
  }
}

/**
 * Without a token, etcd takes the CN of the client certificate as the user, which may be unknown or lack permissions.
 */
const needsToken = (thrown: unknown, token: string): boolean =>
  isRefusal(thrown, 'invalid-token', 'old-token', 'auth-needed') ||
  (token === '' && isRefusal(thrown, 'user-not-found', 'permission-denied'));

function parsed<O extends DescMessage>(schema: O, bytes: Uint8Array): MessageShape<O> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new ConnectError('the answer is not a message of etcd', Code.Internal, undefined, undefined, cause);
  }
}

const headers = (token: string): Record<string, string> => (token === '' ? {} : { token });

const isDeadline = (thrown: unknown): boolean =>
  thrown instanceof ConnectError && thrown.code === Code.DeadlineExceeded;

async function* single<T>(request: T): AsyncGenerator<T> {
  yield request;
}

/** Sends one request and keeps the sending side open: etcd ends a bidirectional call when the client half-closes. */
async function* heldOpen<T>(request: T, signal: AbortSignal): AsyncGenerator<T> {
  yield request;
  if (!signal.aborted) await once(signal, 'abort');
}
