import { etcdBackupCrd } from '../dialects/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../dialects/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../dialects/coreos-v1beta2/restore.ts';
import { etcdBackupCrd as improbableBackupCrd } from '../dialects/improbable-v1alpha1/backup.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../dialects/improbable-v1alpha1/crd.ts';
import { etcdRestoreCrd as improbableRestoreCrd } from '../dialects/improbable-v1alpha1/restore.ts';
import { etcdBackupScheduleCrd } from '../dialects/improbable-v1alpha1/schedule.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import type { CustomResourceDefinition } from '../kube/object.ts';
import { customResourceDefinitions } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure, unless } from '../std/failure.ts';
import type { Log } from './log.ts';
import type { DialectName } from './served.ts';
import { untilAnswered } from './until-answered.ts';

const definitions = {
  coreos: [etcdClusterCrd, etcdBackupCrd, etcdRestoreCrd],
  improbable: [improbableClusterCrd, etcdPeerCrd, improbableBackupCrd, etcdBackupScheduleCrd, improbableRestoreCrd],
} as const;

export interface Installing {
  readonly client: Pick<KubeClient, 'create' | 'get'>;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * Creates the CustomResourceDefinitions of an API. One that is there is left as it is: somebody chose it. While the API server
 * is unreachable, it is asked again until `signal` aborts.
 */
export async function installCrds(api: DialectName, installing: Installing, signal: AbortSignal): Promise<void> {
  const { clock, log } = installing;
  for (const definition of definitions[api]) {
    const crd = definition();
    const onTrouble = ({ message: failure }: Failure): void =>
      log.warn({ crd: crd.metadata.name, failure }, 'cannot create the CustomResourceDefinition: trying again');
    await untilAnswered(() => installCrd(crd, installing, signal), { clock, onTrouble }, signal);
  }
}

async function installCrd(crd: CustomResourceDefinition, installing: Installing, signal: AbortSignal): Promise<void> {
  const { client, log } = installing;
  try {
    await client.create(customResourceDefinitions, crd, { signal });
    log.info({ crd: crd.metadata.name }, 'created the CustomResourceDefinition');
  } catch (thrown) {
    if (isAlreadyExists(thrown)) return lookAtFound(crd, installing, signal);
    const failure = Failure.from(thrown);
    if (failure.kind !== 'forbidden') throw failure;
    log.warn(
      { crd: crd.metadata.name },
      'may not create the CustomResourceDefinition: apply it by hand, or set --create-crd=false',
    );
  }
}

/** The originals' had neither schema nor status subresource. They work, and kubectl lets anything pass. */
async function lookAtFound(
  crd: CustomResourceDefinition,
  { client, log }: Installing,
  signal: AbortSignal,
): Promise<void> {
  const { name } = crd.metadata;
  const asked = client.get(customResourceDefinitions, { name }, { signal });
  const found = await unless('forbidden', unless('not-found', asked, undefined), undefined);
  const lacks = found === undefined ? [] : lackingIn(found, crd);
  if (lacks.length > 0)
    log.warn(
      { crd: name, lacks },
      'the CustomResourceDefinition that is there is worked with: applying ours is better',
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
