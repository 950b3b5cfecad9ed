import { changesOf, isAcknowledged, isApplied, type Operation, textOfChange } from './operation.ts';

/**
 * The violations of the order of revisions, over all keys: the checker of linearizability looks at each key on its own.
 *
 *   - two writes never have the same revision
 *   - a request that begins after the answer to another has no older revision; a write has a newer one
 *   - a read value has the revision of its write
 */
export const revisionViolations = (operations: readonly Operation[]): readonly string[] => [
  ...sharedRevisions(operations),
  ...backwardRevisions(operations),
  ...wrongModRevisions(operations),
];

function sharedRevisions(operations: readonly Operation[]): readonly string[] {
  const byRevision = Map.groupBy(changesOf(operations), ({ revision }) => revision);
  return [...byRevision.values()]
    .filter(({ length }) => length > 1)
    .map((changes) => `several writes have one revision: ${changes.map(textOfChange).join('; ')}`);
}

function backwardRevisions(operations: readonly Operation[]): readonly string[] {
  const answered = operations.filter(isAcknowledged);
  const byCall = answered.toSorted((a, b) => a.call - b.call);
  const byReturn = answered.toSorted((a, b) => a.return - b.return);
  const violations: string[] = [];
  let [newest, next] = [0, 0];
  for (const operation of byCall) {
    for (let before = byReturn[next]; before !== undefined && before.return < operation.call; before = byReturn[++next])
      newest = Math.max(newest, before.answer.revision);
    const least = isApplied(operation) ? newest + 1 : newest;
    if (operation.answer.revision < least)
      violations.push(`${textOf(operation)} has revision ${operation.answer.revision} after an answer with ${newest}`);
  }
  return violations;
}

function wrongModRevisions(operations: readonly Operation[]): readonly string[] {
  const revisions = new Map(changesOf(operations).map(({ value, revision }) => [value, revision]));
  return operations.filter(isAcknowledged).flatMap((operation) => {
    const { value, modRevision } = operation.answer;
    const written = value === '' ? undefined : revisions.get(value);
    if (written === undefined || operation.request.kind !== 'get' || written === modRevision) return [];
    return [`${textOf(operation)} returned ${value} with revision ${modRevision}, but it was written at ${written}`];
  });
}

const textOf = ({ client, request: { kind, key, value = '' } }: Operation): string =>
  `${kind} ${key} ${value} of client ${client}`.replace('  ', ' ');
