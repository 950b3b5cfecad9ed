import { z } from 'zod';
import type { KeptUntil } from '../core/model/kept-volumes.ts';
import type { Told } from './dialect.ts';
import { listBy, ruled, text } from './rule.ts';

/** What both APIs say of volumes of removed members, in the same words. */

const defaultSeconds = 3600;
const int32 = 2_147_483_647;

export const keepRemovedVolumesSeconds = ruled(z.int(), {
  cel: `self >= 0 && self <= ${int32}`,
  says: `must be from 0 to ${int32} seconds: 0 deletes the volume of a removed member at once`,
  holds: (seconds) => seconds >= 0 && seconds <= int32,
})
  .optional()
  .transform((written) => written ?? defaultSeconds)
  .describe(
    'How long the volume of a member is kept after the member was removed, replaced, or replaced by a restore; ' +
      `${defaultSeconds} (an hour) if left out, 0 deletes it at once. status.keptVolumes names those that are kept.`,
  );

const most = 64;

export const keptVolumes = listBy(
  'name',
  z.object({
    name: text(253).describe('Name of the PersistentVolumeClaim.'),
    member: text(253).describe('The removed member whose volume it was.'),
    until: text(64).optional().describe('When the operator deletes it, if the cluster is healthy by then.'),
  }),
  most,
).describe('Volumes of removed members that are kept. They can be deleted by hand at any time.');

type KeptVolumes = z.output<typeof keptVolumes>;

/** Nothing where there are none. */
export const keptVolumesIn = ({ keptVolumes: kept }: { readonly keptVolumes: readonly KeptUntil[] }) =>
  kept.length === 0 ? undefined : kept.slice(0, most).map(shown);

const shown = ({ claim, member, until }: KeptUntil): KeptVolumes[number] => ({
  name: claim,
  member,
  ...(until === undefined ? {} : { until: new Date(until).toISOString().replace(/\.\d+Z$/, 'Z') }),
});

export const volumeDeleted = (claim: string, member: string): Told => ({
  type: 'Normal',
  reason: 'VolumeDeleted',
  message: `Deleted PersistentVolumeClaim ${claim} of removed member ${member}: its grace time is over`,
});
