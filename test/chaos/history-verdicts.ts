import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import { checkerInput } from './checker-input.ts';
import { checkLinearizability, type LinearizabilityReport } from './linearizability.ts';
import { changesOf } from './operation.ts';
import { revisionViolations } from './revisions.ts';
import type { CheckResult } from './verdicts.ts';
import { unionOf, watchViolations } from './watches.ts';
import type { Recording } from './workload.ts';

/** Checks a recording, and keeps it in test-results/ under this name. */
export async function historyVerdicts(recording: Recording, name: string): Promise<readonly CheckResult[]> {
  const { operations, watches, last } = recording;
  const directory = join(resultsDirectory, name);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'operations.jsonl'), operations.map((each) => JSON.stringify(each)).join('\n'));
  await writeFile(join(directory, 'watches.json'), JSON.stringify(watches));
  const picture = join(directory, 'not-linearizable.html');
  const report = await checkLinearizability(checkerInput(operations, unionOf(watches)), picture);
  return [
    { question: 'Is the history linearizable?', violations: violationsOf(report, picture) },
    { question: 'Are revisions in the order of requests, over all keys?', violations: revisionViolations(operations) },
    {
      question: 'Are watches ordered, unique, reliable and resumable?',
      violations: watchViolations(watches, changesOf(operations), last),
    },
  ];
}

const violationsOf = ({ keys }: LinearizabilityReport, picture: string): readonly string[] =>
  keys
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ key, verdict, operations }) =>
      verdict === 'illegal'
        ? `${key}: not linearizable in ${operations} operations, see ${picture}`
        : `${key}: not decided in time, of ${operations} operations`,
    );
