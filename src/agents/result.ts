import { writeFile } from 'node:fs/promises';
import { EtcdFailure } from '../etcd/errors.ts';
import { Failure, type FailureKind } from '../std/failure.ts';
import { StoreFailure } from '../storage/failures.ts';
import type { StoreTrouble } from '../storage/store.ts';

/** What an agent finds wrong itself, beside what a store or etcd says. */
export type AgentTrouble =
  | 'damaged' //   the object is no whole snapshot
  | 'too-new' //   the target etcd could not read it
  | 'too-large' // it does not fit where it is to go
  | 'etcd' //      no member gave a snapshot
  | 'time' //      it took longer than it may
  | 'stopped' //   the pod was told to end
  | 'bad-input'
  | 'bug';

const kinds: Readonly<Record<AgentTrouble, FailureKind>> = {
  damaged: 'rejected',
  'too-new': 'rejected',
  'too-large': 'rejected',
  etcd: 'unreachable',
  time: 'unreachable',
  stopped: 'unreachable',
  'bad-input': 'rejected',
  bug: 'bug',
};

export class AgentFailure extends Failure {
  readonly trouble: AgentTrouble;

  constructor(trouble: AgentTrouble, message: string, options: ErrorOptions & { readonly kind?: FailureKind } = {}) {
    super(options.kind ?? kinds[trouble], message, options);
    this.trouble = trouble;
  }
}

/** What an agent leaves behind for whoever started it. Numbers that may be large are text. */
export type AgentResult =
  | ({ readonly ok: true; readonly seconds: number } & Readonly<Record<string, unknown>>)
  | {
      readonly ok: false;
      readonly trouble: AgentTrouble | StoreTrouble;
      /** Whether it may go well another time, with nothing changed. */
      readonly mayPass: boolean;
      readonly message: string;
    };

export function resultOfFailure(thrown: unknown): AgentResult {
  const failure = Failure.from(thrown);
  return { ok: false, trouble: troubleOf(failure), mayPass: failure.kind === 'unreachable', message: failure.message };
}

function troubleOf(failure: Failure): AgentTrouble | StoreTrouble {
  if (failure instanceof StoreFailure || failure instanceof AgentFailure) return failure.trouble;
  if (failure instanceof EtcdFailure) return 'etcd';
  return failure.kind === 'bug' ? 'bug' : 'bad-input';
}

/** Kubernetes keeps no more than this of a termination message. */
const mostBytes = 4096;
const mostOfMessage = 2000;

export async function leaveResult(file: string | undefined, result: AgentResult): Promise<void> {
  const short = result.ok ? result : { ...result, message: result.message.slice(0, mostOfMessage) };
  const text = JSON.stringify(short);
  process.stdout.write(`${text}\n`);
  if (file !== undefined) await writeFile(file, Buffer.from(text).subarray(0, mostBytes));
}
