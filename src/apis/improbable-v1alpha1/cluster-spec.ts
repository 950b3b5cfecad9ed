import { z } from 'zod';
import { newest } from '../../core/versions/releases.ts';
import {
  imageRepository,
  longestVersion,
  oneDigest,
  pinnableForm,
  releasedForm,
  splitDigest,
} from '../common/image.ts';
import {
  auth,
  autoCompaction,
  backupBeforeUpgrade,
  clusterSize,
  compactionNeedsEtcd33,
  paused,
  quotaBackendBytes,
  replaceMemberAfterSeconds,
} from '../common/member-settings.ts';
import { looksLike, text, withRules } from '../common/schema/rule.ts';
import { keepRemovedVolumesSeconds } from '../common/status/removed-volumes.ts';
import { managedTlsNeedsEtcd32, tls } from '../common/tls.ts';
import { podTemplate } from './pod-template.ts';
import { storageOrDefault } from './storage.ts';

const released = 'must be a released etcd version of three numbers, such as 3.5.35';
const ofEtcd3 = looksLike(/^v?3[.]/, 'only Etcd version 3 is supported'); // the original's message

export const etcdVersion = withRules(text(32), looksLike(new RegExp(`^${releasedForm}$`), released), ofEtcd3)
  .default(newest)
  .transform((written) => written.replace(/^v/, ''));

const pinnableVersion = withRules(
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
    'replicas is the number of members, from 1 to 9. An even number tolerates no more failures than one member fewer.',
  ),
  version: pinnableVersion.describe(
    'version is the version of etcd: three numbers. A change upgrades one member at a time. With a digest ' +
      '(3.5.35@sha256:<digest>), members run exactly that image. The default is set when the EtcdCluster is created, and a newer ' +
      'operator does not change it.',
  ),
  storage: storageOrDefault,
  podTemplate: podTemplate.optional().describe('podTemplate has the settings of the member pods.'),
  repository: imageRepository,
  paused,
  replaceMemberAfterSeconds,
  keepRemovedVolumesSeconds,
  quotaBackendBytes: quotaBackendBytes.optional(),
  autoCompaction: autoCompaction.optional(),
  tls: tls.optional().describe('tls is the encryption between members, and between members and clients.'),
  auth: auth.optional(),
  backupBeforeUpgrade: backupBeforeUpgrade.optional(),
});

export const etcdClusterSpec = withRules(
  fields,
  oneDigest,
  compactionNeedsEtcd33,
  managedTlsNeedsEtcd32('tls'),
).transform(splitDigest);

export type EtcdClusterSpec = z.output<typeof etcdClusterSpec>;
