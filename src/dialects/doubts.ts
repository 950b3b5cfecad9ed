import { z } from 'zod';
import type { AgentFacts, AgentReport } from '../core/model/agent.ts';
import type { Reason } from '../core/reasons.ts';
import type { Told } from './dialect.ts';
import { text } from './rule.ts';

const [most, longest] = [16, 1024];

/** What is doubtful about a good backup, in the status of either API. */
export const warnings = z
  .array(text(longest))
  .max(most)
  .describe('What is doubtful about the last good backup, or was left undone, such as deleting old ones.');

export const warningsIn = ({ warnings: those = [] }: AgentFacts): string[] | undefined =>
  those.length === 0 ? undefined : those.slice(0, most).map((warning) => warning.slice(0, longest));

/** Beside what either API says of the end itself. */
export const tellDoubts = ({ ok, facts }: AgentReport): readonly Told[] =>
  (ok ? (facts.warnings ?? []) : []).map((message) => ({
    ...{ type: 'Warning', reason: 'BackupDoubtful' satisfies Reason, message },
  }));
