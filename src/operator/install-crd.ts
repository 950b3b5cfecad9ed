import { etcdBackupCrd } from '../apis/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../apis/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../apis/coreos-v1beta2/restore.ts';
import { etcdBackupCrd as improbableBackupCrd } from '../apis/improbable-v1alpha1/backup/backup.ts';
import { etcdRestoreCrd as improbableRestoreCrd } from '../apis/improbable-v1alpha1/backup/restore.ts';
import { etcdBackupScheduleCrd } from '../apis/improbable-v1alpha1/backup/schedule.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../apis/improbable-v1alpha1/crd.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import type { CustomResourceDefinition } from '../kube/object.ts';
import { customResourceDefinitions } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure, unless } from '../std/failure.ts';
import type { Log } from './telemetry/log.ts';
import { untilAnswered } from './until-answered.ts';
import type { DialectName } from './wiring/served.ts';

const definitions = {
  coreos: [etcdClusterCrd, etcdBackupCrd, etcdRestoreCrd],
  improbable: [improbableClusterCrd, etcdPeerCrd, improbableBackupCrd, etcdBackupScheduleCrd, improbableRestoreCrd],
} as const;

export interface InstallContext {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * Creates the CustomResourceDefinitions of an API. Existing definitions are not changed. Retries while the API server is
 * unreachable, until `signal` aborts.
 */
export async function installCrds(api: DialectName, context: InstallContext, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  for (const definition of definitions[api]) {
    const crd = definition();
    const onFailure = ({ message: failure }: Failure): void =>
      log.warn({ crd: crd.metadata.name, failure }, 'cannot create CustomResourceDefinition: retrying');
    await untilAnswered(() => installCrd(crd, context, signal), { clock, onFailure }, signal);
  }
}

async function installCrd(crd: CustomResourceDefinition, context: InstallContext, signal: AbortSignal): Promise<void> {
  const { client, log } = context;
  try {
    await client.create(customResourceDefinitions, crd, { signal });
    log.info({ crd: crd.metadata.name }, 'created CustomResourceDefinition');
  } catch (thrown) {
    if (isAlreadyExists(thrown)) return warnIfOutdated(crd, context, signal);
    const failure = Failure.from(thrown);
    if (failure.kind !== 'forbidden') throw failure;
    log.warn(
      { crd: crd.metadata.name },
      'no permission to create CustomResourceDefinition: apply it with kubectl, or set --create-crd=false',
    );
  }
}

/** Warns about definitions of the originals, which lack schema and status subresource. The operator works with them. */
async function warnIfOutdated(
  crd: CustomResourceDefinition,
  { client, log }: InstallContext,
  signal: AbortSignal,
): Promise<void> {
  const { name } = crd.metadata;
  const request = client.get(customResourceDefinitions, { name }, { signal });
  const found = await unless('forbidden', unless('not-found', request, undefined), undefined);
  const lacks = found === undefined ? [] : lackingIn(found, crd);
  if (lacks.length > 0)
    log.warn(
      { crd: name, lacks },
      'CustomResourceDefinition is outdated: apply the one shipped with this operator; do not delete the existing one',
    );
}

function lackingIn(found: CustomResourceDefinition, ours: CustomResourceDefinition): readonly string[] {
  const [version] = versionsOf(ours);
  const { subresources = {}, schema } = versionsOf(found).find(({ name }) => name === version?.name) ?? {};
  const { spec } = schema?.openAPIV3Schema?.properties ?? {};
  return [
    ...(subresources.status === undefined ? ['status subresource'] : []),
    ...(spec === undefined ? ['schema'] : []),
  ];
}

const versionsOf = ({ spec }: CustomResourceDefinition) => spec?.versions ?? [];
