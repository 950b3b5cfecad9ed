import { z } from 'zod';
import { claimSpec, startsEmpty } from '../kubernetes-types.ts';
import { changing, ruled } from '../rule.ts';

/** Whole, because the API server judges it by the rules before it fills in what is left out. */
const smallest = {
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem' as const,
  resources: { requests: { storage: '1Gi' } },
};

const { accessModes, volumeMode } = claimSpec.shape;

const template = z.object({
  ...claimSpec.shape,
  accessModes: accessModes.default(['ReadWriteOnce']),
  volumeMode: volumeMode.unwrap().default('Filesystem'),
});

const size = (of: string): string => `quantity(string(${of}.resources.requests.storage))`;

const unlessWrong = (rule: string): string =>
  `!isQuantity(string(self.resources.requests.storage)) || !isQuantity(string(oldSelf.resources.requests.storage)) || ${rule}`;

const sameIfThere = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

const fixed = ['storageClassName', 'volumeAttributesClassName', 'volumeName', 'selector'];

const volumeClaimTemplate = changing(
  ruled(template, ...startsEmpty),
  {
    cel: unlessWrong(`${size('self')}.compareTo(${size('oldSelf')}) >= 0`),
    says: 'Unsupported changes: a volume can grow but not shrink: ask for at least as much storage as before',
  },
  {
    cel: [
      'self.accessModes == oldSelf.accessModes',
      'self.volumeMode == oldSelf.volumeMode',
      ...fixed.map(sameIfThere),
    ].join(' && '),
    says: 'Unsupported changes: of a volume only resources can be changed: make a new cluster and restore a backup into it',
  },
);

export const storage = z.object({
  volumeClaimTemplate: volumeClaimTemplate
    .prefault(smallest)
    .describe(
      'The claim for the volume of each member; 1Gi of the default StorageClass if left out. It can grow later.',
    ),
  volumeClaimPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe('Whether volumes stay when the cluster is deleted, so that it can be made again on them, or go with it.'),
});

export const storageOrDefault = storage.prefault({}).describe('Where members keep their data: each on its own volume.');

export type Storage = z.output<typeof storage>;
