import { etcdClusterCrd } from '../dialects/coreos-v1beta2/crd.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import type { CustomResourceDefinition } from '../kube/object.ts';
import { customResourceDefinitions } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';
import type { Log } from './log.ts';

/** Creates the CustomResourceDefinition if it is not there. One that is there is left as it is: somebody chose it. */
export async function installCrd(client: Pick<KubeClient, 'create'>, log: Log): Promise<void> {
  const crd = etcdClusterCrd() as unknown as CustomResourceDefinition;
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
