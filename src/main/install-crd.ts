import { etcdBackupCrd } from '../dialects/coreos-v1beta2/backup.ts';
import { etcdClusterCrd } from '../dialects/coreos-v1beta2/crd.ts';
import { etcdRestoreCrd } from '../dialects/coreos-v1beta2/restore.ts';
import { etcdPeerCrd, etcdClusterCrd as improbableClusterCrd } from '../dialects/improbable-v1alpha1/crd.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import type { CustomResourceDefinition } from '../kube/object.ts';
import { customResourceDefinitions } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';
import type { DialectName } from './served.ts';

const definitions = {
  coreos: [etcdClusterCrd, etcdBackupCrd, etcdRestoreCrd],
  improbable: [improbableClusterCrd, etcdPeerCrd],
} as const;

/** Creates the CustomResourceDefinitions of an API. One that is there is left as it is: somebody chose it. */
export async function installCrds(api: DialectName, client: Pick<KubeClient, 'create'>, log: Log): Promise<void> {
  for (const definition of definitions[api]) await installCrd(definition(), client, log);
}

async function installCrd(crd: CustomResourceDefinition, client: Pick<KubeClient, 'create'>, log: Log): Promise<void> {
  try {
    await client.create(customResourceDefinitions, crd);
    log.info({ crd: crd.metadata.name }, 'created the CustomResourceDefinition');
  } catch (thrown) {
    if (isAlreadyExists(thrown)) return;
    const failure = Failure.from(thrown);
    if (failure.kind !== 'forbidden') throw failure;
    log.warn(
      { crd: crd.metadata.name },
      'may not create the CustomResourceDefinition: apply it by hand, or set --create-crd=false',
    );
  }
}
