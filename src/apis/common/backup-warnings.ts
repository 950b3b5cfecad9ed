import { z } from 'zod';
import type { AgentFacts, AgentReport } from '../../core/backup/agent.ts';
import type { Reason } from '../../core/reasons.ts';
import type { EventContent } from './dialect.ts';
import { text } from './schema/rule.ts';

const [most, longest] = [16, 1024];

/** The warnings of a successful backup, in the status of both APIs. */
export const warnings = z
  .array(text(longest))
  .max(most)
  .describe(
    'warnings are problems of the last successful backup that did not make it fail, such as old backups that could not be deleted.',
  );

export const warningsIn = ({ warnings: all = [] }: AgentFacts): string[] | undefined =>
  all.length === 0 ? undefined : all.slice(0, most).map((warning) => warning.slice(0, longest));

/** Events for the warnings of a backup, beside the Event for its result. */
export const eventsOfWarnings = ({ ok, facts }: AgentReport): readonly EventContent[] =>
  (ok ? (facts.warnings ?? []) : []).map((message) => ({
    type: 'Warning',
    reason: 'BackupWarning' satisfies Reason,
    message,
  }));
