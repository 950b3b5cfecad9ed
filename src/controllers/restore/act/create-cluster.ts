import type { ReadRestore } from '../../../apis/common/restore-dialect.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { ClusterObject } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
import type { RestoreContext } from '../context.ts';
import { madeByAnnotation } from '../pods-and-pvcs.ts';
import type { Target } from '../target.ts';

interface Creating {
  readonly read: ReadRestore;
  readonly target: Pick<Target, 'spec'>;
  readonly controller: RestoreContext;
  readonly writer: Writer;
}

/**
 * Creates the EtcdCluster with the hold annotation, so that its controller does not bootstrap it: the seed is its first
 * member. The EtcdCluster has no owner and outlives the restore.
 */
export async function createCluster({ read, target, controller, writer }: Creating): Promise<void> {
  await writer.create(controller.clusters.resource, clusterFor(read, target, controller)).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // the next pass checks whether this restore created it
  });
}

function clusterFor(
  { intent }: ReadRestore,
  { spec }: Pick<Target, 'spec'>,
  { dialect, clusters }: RestoreContext,
): ClusterObject {
  const { group, version, kind } = clusters.dialect;
  const { cluster: name, namespace, uid } = intent;
  const annotations = { [dialect.holdAnnotation]: uid, [madeByAnnotation(dialect)]: uid };
  const { restoredFromLabel: label } = dialect;
  const isLabelled = label !== undefined && intent.name.length <= longestLabel;
  const metadata = { name, namespace, annotations, ...(isLabelled ? { labels: { [label]: intent.name } } : {}) };
  return { apiVersion: `${group}/${version}`, kind, metadata, spec };
}

const longestLabel = 63;
