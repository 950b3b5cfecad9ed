import { writeFile } from 'node:fs/promises';
import { expect, vi } from 'vitest';
import { headCommit } from '../../tools/check/touched.ts';
import type { Need } from '../chaos/plan.ts';
import { reportOf } from '../chaos/report.ts';
import { type ChaosSettings, runChaos } from '../chaos/run.ts';
import { invalidity, violationsIn } from '../chaos/verdicts.ts';
import { installForBoth } from '../support/operator.ts';
import { currentPlace, type Place } from '../support/place.ts';
import { story } from '../support/story.ts';
import { WaitTimeout } from '../support/until.ts';

/** A fixed run of about a minute: this seed has each of these faults in three episodes. */
const shortRun: ChaosSettings = {
  ...{ seed: 42, minutes: 0, episodes: 3, has: ['pods'] },
  changes: ['roll', 'upgrade'],
  only: ['delete-pod', 'kill-member', 'freeze-member', 'kill-operator', 'delete-pvc', 'empty-volume'],
};

const needs: Readonly<Record<Place, readonly Need[]>> = {
  'the lab': ['pods'],
  'our cluster': ['pods', 'nodes', 'network'],
  'another cluster': [],
};

/** The run that `make chaos` asks for. */
function askedRun(minutes: number): ChaosSettings {
  vi.setConfig({ testTimeout: (minutes + 30) * 60_000 });
  return {
    ...{ seed: Number(process.env['CHAOS_SEED']), minutes, has: needs[currentPlace()] },
    changes: ['roll', 'scale-up', 'back-up', 'upgrade', 'restore', 'scale-down', 'rotate-ca', 'none'],
  };
}

const minutes = Number(process.env['CHAOS_MINUTES'] ?? 0);
const settings = minutes > 0 ? askedRun(minutes) : shortRun;

story.asOnTheLab('a cluster is linearizable while members and the operator are killed', async (context) => {
  await installForBoth(context);
  const origin = { commit: await headCommit(), date: new Date().toISOString().slice(0, 10) };
  const run = await runChaos(context, settings);
  const page = process.env['CHAOS_REPORT'];
  if (page !== undefined) await writeFile(page, reportOf(run, origin));
  expect(violationsIn(run)).toEqual([]);
  const reasons = invalidity(run);
  if (reasons.length > 0) throw new WaitTimeout(`the run is invalid: ${reasons.join('; ')}`);
});
