import { z } from 'zod';
import { newest } from '../../core/versions/releases.ts';
import { imageRepository, releasedForm } from '../image.ts';
import { keepRemovedVolumesSeconds } from '../kept-volumes.ts';
import {
  auth,
  autoCompaction,
  backupBeforeUpgrade,
  clusterSize,
  compactionNeedsNewer,
  paused,
  quotaBackendBytes,
  replaceMemberAfterSeconds,
} from '../member-settings.ts';
import { looksLike, ruled, text } from '../rule.ts';
import { managedNeedsNewer, tls } from '../tls.ts';
import { podTemplate } from './pod-template.ts';
import { storageOrDefault } from './storage.ts';

export const etcdVersion = ruled(
  text(32),
  looksLike(new RegExp(`^${releasedForm}$`), 'must be a released etcd version of three numbers, such as 3.5.35'),
  looksLike(/^v?3[.]/, 'only Etcd version 3 is supported'), // the original's words
)
  .default(newest)
  .transform((written) => written.replace(/^v/, ''));

const fields = z.object({
  replicas: clusterSize.describe(
    'How many members the cluster has, from 1 to 9. An even number survives no more failures than one less.',
  ),
  version: etcdVersion.describe(
    'Version of etcd, as three numbers. Changing it upgrades one member after the other. What is left out is filled in ' +
      'once, and stays when a newer operator knows a newer etcd.',
  ),
  storage: storageOrDefault,
  podTemplate: podTemplate.optional().describe("What the members' pods have beside what etcd needs."),
  repository: imageRepository.describe('Image without tag; members run <repository>:v<version>.'),
  paused,
  replaceMemberAfterSeconds,
  keepRemovedVolumesSeconds,
  quotaBackendBytes: quotaBackendBytes.optional(),
  autoCompaction: autoCompaction.optional(),
  tls: tls.optional().describe('Encryption between members, and between members and clients.'),
  auth: auth.optional(),
  backupBeforeUpgrade: backupBeforeUpgrade.optional(),
});

export const etcdClusterSpec = ruled(fields, compactionNeedsNewer, managedNeedsNewer('tls'));

export type EtcdClusterSpec = z.output<typeof etcdClusterSpec>;
