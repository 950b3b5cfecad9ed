import { z } from 'zod';
import { newest } from '../../core/versions/releases.ts';
import { imageRepository, longestVersion, oneDigest, pinnableForm, releasedForm, withDigestApart } from '../image.ts';
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

const released = 'must be a released etcd version of three numbers, such as 3.5.35';
const ofEtcd3 = looksLike(/^v?3[.]/, 'only Etcd version 3 is supported'); // the original's words

export const etcdVersion = ruled(text(32), looksLike(new RegExp(`^${releasedForm}$`), released), ofEtcd3)
  .default(newest)
  .transform((written) => written.replace(/^v/, ''));

const pinnableVersion = ruled(
  text(longestVersion),
  looksLike(
    new RegExp(`^${pinnableForm}$`),
    `${released}; a digest of 64 hexadecimal digits may follow it: 3.5.35@sha256:...`,
  ),
  ofEtcd3,
)
  .default(newest)
  .transform((written) => written.replace(/^v/, ''));

const fields = z.object({
  replicas: clusterSize.describe(
    'How many members the cluster has, from 1 to 9. An even number survives no more failures than one less.',
  ),
  version: pinnableVersion.describe(
    'Version of etcd, as three numbers. Changing it upgrades one member after the other. With the digest of its image behind it ' +
      '(3.5.35@sha256:<digest>), members run exactly that image. What is left out is filled in once, and stays when a newer ' +
      'operator knows a newer etcd.',
  ),
  storage: storageOrDefault,
  podTemplate: podTemplate.optional().describe("What the members' pods have beside what etcd needs."),
  repository: imageRepository,
  paused,
  replaceMemberAfterSeconds,
  keepRemovedVolumesSeconds,
  quotaBackendBytes: quotaBackendBytes.optional(),
  autoCompaction: autoCompaction.optional(),
  tls: tls.optional().describe('Encryption between members, and between members and clients.'),
  auth: auth.optional(),
  backupBeforeUpgrade: backupBeforeUpgrade.optional(),
});

export const etcdClusterSpec = ruled(fields, oneDigest, compactionNeedsNewer, managedNeedsNewer('tls')).transform(
  withDigestApart,
);

export type EtcdClusterSpec = z.output<typeof etcdClusterSpec>;
