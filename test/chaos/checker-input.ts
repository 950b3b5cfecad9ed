import { type Acknowledged, changesOf, isAcknowledged, type KeyChange, type Operation } from './operation.ts';

/** A line of the input of tools/programs/porcupine. */
export interface CheckerLine {
  readonly client: number;
  readonly kind: string;
  readonly key: string;
  readonly value: string;
  readonly expected: string;
  readonly done: boolean;
  /** False if the answer is not known; `return` is then absent, or the time at which the write was certainly applied. */
  readonly answered: boolean;
  readonly call: number;
  readonly return?: number;
}

/**
 * The history for the checker. Refused requests and unanswered reads have no effect. `seen` must be all changes: then an unanswered
 * put or cas without a change was not applied, and one with a change was applied before any answer with its revision or a newer
 * one. Without this the checker would try each unanswered write at each later moment.
 */
export function checkerInput(operations: readonly Operation[], seen: readonly KeyChange[]): readonly CheckerLine[] {
  const facts = factsOf(operations, seen);
  return operations.flatMap((operation) => {
    if (operation.answer.outcome === 'unknown') return unansweredLine(operation, facts);
    return isAcknowledged(operation) ? [answeredLine(operation)] : [];
  });
}

interface Facts {
  /** The revision at which a value was written. */
  readonly revisionOf: ReadonlyMap<string, number>;
  /** The keys with a deletion that is of no acknowledged request. */
  readonly deletedKeys: ReadonlySet<string>;
  /** The time of the first answer with this revision or a newer one. */
  readonly answeredAt: (revision: number) => number | undefined;
}

function factsOf(operations: readonly Operation[], seen: readonly KeyChange[]): Facts {
  const acknowledged = new Set(changesOf(operations).map(({ revision }) => revision));
  const reads = operations.filter(isAcknowledged).filter(({ answer }) => answer.value !== '');
  const revisionOf = new Map([
    ...reads.map(({ answer }) => [answer.value, answer.modRevision] as const),
    ...seen.flatMap(({ kind, value, revision }) => (kind === 'put' ? [[value, revision] as const] : [])),
  ]);
  const deletions = seen.filter(({ kind, revision }) => kind === 'delete' && !acknowledged.has(revision));
  return { revisionOf, deletedKeys: new Set(deletions.map(({ key }) => key)), answeredAt: firstAnswers(operations) };
}

function firstAnswers(operations: readonly Operation[]): Facts['answeredAt'] {
  const answers = operations.filter(isAcknowledged).toSorted((a, b) => a.answer.revision - b.answer.revision);
  const firstFrom: number[] = [];
  for (let index = answers.length - 1; index >= 0; index--)
    firstFrom[index] = Math.min(answers[index]?.return ?? 0, firstFrom[index + 1] ?? Number.POSITIVE_INFINITY);
  return (revision) => firstFrom[answers.findIndex(({ answer }) => answer.revision >= revision)];
}

const lineOf = ({ client, call, request: { kind, key, value = '', expected } }: Operation) => ({
  ...{ client, kind, key, value, expected: expected?.value ?? '', done: false, answered: false, call },
});

function unansweredLine(operation: Operation, { revisionOf, deletedKeys, answeredAt }: Facts): readonly CheckerLine[] {
  const { kind, key, value = '' } = operation.request;
  if (kind === 'get') return [];
  if (kind === 'delete') return deletedKeys.has(key) ? [lineOf(operation)] : [];
  const revision = revisionOf.get(value);
  if (revision === undefined) return [];
  const end = answeredAt(revision);
  return [{ ...lineOf(operation), ...(end === undefined ? {} : { return: end }) }];
}

function answeredLine(operation: Acknowledged): CheckerLine {
  const { answer, request } = operation;
  const value = request.kind === 'get' ? answer.value : (request.value ?? '');
  return { ...lineOf(operation), value, done: answer.done, answered: true, return: operation.return };
}
