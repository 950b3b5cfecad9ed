import { create, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Endpoint } from '../../../src/etcd/endpoint.ts';
import { Auth, Cluster, KV, Maintenance } from '../../../src/etcd/gen/etcd_pb.ts';
import type { MemberSession, OpenSession, UnaryCall } from '../../../src/etcd/session.ts';
import type { FaultSource, RequestFate } from '../api/faults.ts';
import { describeFault } from '../api/request.ts';
import type { Process } from '../world/process.ts';
import type { Scheduler } from '../world/scheduler.ts';
import type { Trace } from '../world/trace.ts';
import type { Network } from './network.ts';
import type { SimulatedEtcd } from './process.ts';
import { answerTo } from './rpc.ts';

/** A call of the operator that a member is about to answer. */
export interface EtcdCall {
  readonly process: Process;
  readonly endpoint: Endpoint;
  readonly member: SimulatedEtcd;
  readonly method: string;
  readonly request: object;
}

export interface SessionParts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly process: Process;
  readonly faults: FaultSource;
  readonly trace: Trace;
  readonly onCall: (call: EtcdCall) => void;
  /** Called when an address is dialled, before it is known what is there. */
  readonly onDial: (endpoint: Endpoint) => void;
  readonly crash: (process: Process) => void;
}

/** Opens sessions to simulated members. The operator's own call layer is above them. */
export const simulatedSessions =
  (parts: SessionParts): OpenSession =>
  (endpoint) =>
    new SimulatedSession(endpoint, parts) as unknown as MemberSession;

const methods = new Map<string, DescMethod>(
  [KV, Cluster, Maintenance, Auth].flatMap((service) =>
    service.methods.map((method) => [`/${service.typeName}/${method.name}`, method] as const),
  ),
);

function methodAt(path: string): DescMethod {
  const method = methods.get(path);
  if (method === undefined) throw new Error(`${path} is not simulated`);
  return method;
}

class SimulatedSession {
  isRetired = false;
  #openCalls = 0;
  readonly #endpoint: Endpoint;
  readonly #parts: SessionParts;

  constructor(endpoint: Endpoint, parts: SessionParts) {
    this.#endpoint = endpoint;
    this.#parts = parts;
  }

  async unary({ path, message, signal, confirm }: UnaryCall): Promise<Uint8Array> {
    confirm();
    const { name, input, output } = methodAt(path);
    const request = fromBinary(input, message);
    const call = { endpoint: this.#endpoint, method: name, request, signal };
    const answer = await new SimulatedCall(call, this.#parts).start();
    return toBinary(output, create(output, answer as Record<string, unknown>));
  }

  get isFinished(): boolean {
    return this.isRetired && this.#openCalls === 0;
  }

  beginCall(): Disposable {
    this.#openCalls++;
    return { [Symbol.dispose]: () => void this.#openCalls-- };
  }

  retire(): void {
    this.isRetired = true;
  }

  abort(): void {
    this.isRetired = true;
  }
}

interface Unary {
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly request: object;
  readonly signal: AbortSignal;
}

/** etcd gives up on a request without a leader after this time. */
const serverMillis = 7_000;

const isRead = new Set(['Status', 'Range', 'MemberList', 'Alarm', 'HashKV', 'Authenticate']);

/** One call to one member. */
class SimulatedCall {
  readonly #call: Unary;
  readonly #parts: SessionParts;
  readonly #fate: RequestFate;
  readonly #answer = Promise.withResolvers<object>();

  constructor(call: Unary, parts: SessionParts) {
    this.#call = call;
    this.#parts = parts;
    this.#fate = parts.faults.ofRequest(isRead.has(call.method) ? 'read' : 'change', 'etcd');
  }

  start(): Promise<object> {
    const { signal, endpoint } = this.#call;
    const abort = (): void => this.#answer.reject(new ConnectError('aborted', Code.Canceled));
    signal.addEventListener('abort', abort, { once: true });
    this.#parts.onDial(endpoint);
    this.#parts.scheduler.afterInert(this.#fate.thereMillis, () => this.#arrive());
    return this.#answer.promise;
  }

  #arrive(): void {
    const { network } = this.#parts;
    const member = network.byAddress(this.#call.endpoint.dial?.host ?? '');
    if (member?.isRunning !== true) return this.#settle(0, { failure: brokenBy('ECONNREFUSED') });
    // Packets are dropped, or the port is bound and not served yet.
    if (network.canTalk('operator', member.node) && member.isServing) this.#serve(member);
  }

  #serve(member: SimulatedEtcd): void {
    const { method, endpoint, request } = this.#call;
    const { process, crash } = this.#parts;
    const { fault } = this.#fate;
    this.#show(member);
    const result = done({ process, endpoint, member, method, request }, fault, this.#parts);
    if (fault?.is === 'crash') return crash(process);
    if (fault?.is !== 'lost') this.#settle(member.slowMillis + ('waits' in result ? serverMillis : 0), result);
  }

  #settle(millis: number, result: Result): void {
    const { scheduler, process } = this.#parts;
    const { resolve, reject } = this.#answer;
    const settle = (): void => ('message' in result ? resolve(result.message) : reject(result.failure));
    scheduler.after(this.#fate.backMillis + millis, () => process.run(settle));
  }

  #show(member: SimulatedEtcd): void {
    const { method, request } = this.#call;
    const { process, trace } = this.#parts;
    if (isRead.has(method)) return;
    const fault = describeFault(this.#fate.fault);
    trace.add(process.name, () => `etcd ${method} at ${member.name} ${textOf(request)}${fault}`);
  }
}

type Result = { readonly message: object } | { readonly failure: Error; readonly waits?: true };

function done(call: EtcdCall, fault: RequestFate['fault'], { onCall }: SessionParts): Result {
  const broken = { failure: brokenBy('ECONNRESET') };
  if (fault !== undefined && (fault.is === 'refused' || !fault.isDone)) return broken;
  try {
    onCall(call);
    const message = answerTo(call.member, call.method, call.request as never);
    if (message === 'waits')
      return { failure: new ConnectError('etcdserver: request timed out', Code.Unavailable), waits: true };
    return fault?.is === 'broken' ? broken : { message };
  } catch (thrown) {
    return { failure: thrown as Error };
  }
}

const brokenBy = (code: string): ConnectError =>
  new ConnectError(code, Code.Unavailable, undefined, undefined, Object.assign(new Error(code), { code }));

const textOf = (request: object): string =>
  JSON.stringify(request, (key, value: unknown) => {
    if (key === '$typeName') return undefined;
    return typeof value === 'bigint' ? value.toString(16) : value;
  });
