import { z } from 'zod';
import type { KeptUntil } from '../../../core/cluster/model/removed-volumes.ts';
import type { EventContent } from '../dialect.ts';
import { listBy, text, withRules } from '../schema/rule.ts';

/** The fields of both APIs for volumes of removed members. */

const defaultSeconds = 3600;
const int32 = 2_147_483_647;

export const keepRemovedVolumesSeconds = withRules(z.int(), {
  cel: `self >= 0 && self <= ${int32}`,
  message: `must be from 0 to ${int32} seconds: 0 deletes the volume of a removed member at once`,
  holds: (seconds) => seconds >= 0 && seconds <= int32,
})
  .optional()
  .transform((written) => written ?? defaultSeconds)
  .describe(
    'keepRemovedVolumesSeconds is how long the volume of a member is kept after the member was removed or replaced. ' +
      `Defaults to ${defaultSeconds} (one hour); 0 deletes it at once. status.keptVolumes lists the kept volumes.`,
  );

const most = 64;

export const keptVolumes = listBy(
  'name',
  z.object({
    name: text(253).describe('name is the name of the PersistentVolumeClaim.'),
    member: text(253).describe('member is the name of the removed member.'),
    until: text(64)
      .optional()
      .describe('until is when the operator deletes the volume, if the cluster is healthy then.'),
  }),
  most,
).describe('keptVolumes are volumes of removed members that are still kept. You can delete them at any time.');

type KeptVolumes = z.output<typeof keptVolumes>;

/** The kept volumes for the status; undefined if there are none. */
export const keptVolumesIn = ({ keptVolumes: kept }: { readonly keptVolumes: readonly KeptUntil[] }) =>
  kept.length === 0 ? undefined : kept.slice(0, most).map(statusOf);

const statusOf = ({ claim, member, until }: KeptUntil): KeptVolumes[number] => ({
  name: claim,
  member,
  ...(until === undefined ? {} : { until: new Date(until).toISOString().replace(/\.\d+Z$/, 'Z') }),
});

export const volumeDeleted = (claim: string, member: string): EventContent => ({
  type: 'Normal',
  reason: 'VolumeDeleted',
  message: `Deleted PersistentVolumeClaim ${claim} of removed member ${member}: its grace time is over`,
});
