import { z } from 'zod';
import { claimSpec, emptyVolumeRules } from '../common/schema/kubernetes-types.ts';
import { withRules, withTransitionRules } from '../common/schema/rule.ts';

/** The complete default: the API server applies rules to it before it adds nested defaults. */
const defaultTemplate = {
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

/** An object that was stored under a CRD without schema may lack the size. */
const hasSize = (of: string): string =>
  `has(${of}.resources) && has(${of}.resources.requests) && has(${of}.resources.requests.storage) && ` +
  `isQuantity(string(${of}.resources.requests.storage))`;

const ifQuantities = (rule: string): string => `!(${hasSize('self')}) || !(${hasSize('oldSelf')}) || ${rule}`;

const isUnchanged = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

const immutableFields = [
  'accessModes',
  'volumeMode',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeName',
  'selector',
];

const volumeClaimTemplate = withTransitionRules(
  withRules(template, ...emptyVolumeRules),
  {
    cel: ifQuantities(`${size('self')}.compareTo(${size('oldSelf')}) >= 0`),
    message: 'Unsupported changes: a volume can grow but not shrink: ask for at least as much storage as before',
  },
  {
    cel: immutableFields.map(isUnchanged).join(' && '),
    message:
      'Unsupported changes: of a volume only resources can be changed: make a new cluster and restore a backup into it',
  },
);

export const storage = z.object({
  volumeClaimTemplate: volumeClaimTemplate
    .prefault(defaultTemplate)
    .describe(
      'volumeClaimTemplate is the spec of the PersistentVolumeClaim of each member. Defaults to 1Gi of the default StorageClass. The size can grow later.',
    ),
  volumeClaimPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe(
      'volumeClaimPolicy is what happens to the volumes when the cluster is deleted. With Retain, the default, a new cluster of the same name uses them again.',
    ),
});

export const storageOrDefault = storage
  .prefault({})
  .describe('storage has the settings of the volumes. Each member has its own volume.');
