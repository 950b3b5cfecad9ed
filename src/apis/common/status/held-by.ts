import { text } from '../schema/rule.ts';

const longest = 253;

export const heldBy = text(longest).describe('heldBy is the UID of the restore that pauses the cluster.');

interface Pause {
  readonly paused: boolean;
  /** The UID of the restore that pauses the cluster. */
  readonly heldBy?: string;
}

/** An annotation may be longer than any UID. The API server refuses a status with texts that are too long. */
export const pauseOf = (restoring: string | undefined, { paused }: Pick<Pause, 'paused'>): Pause =>
  restoring === undefined ? { paused } : { paused: true, heldBy: restoring.slice(0, longest) };
