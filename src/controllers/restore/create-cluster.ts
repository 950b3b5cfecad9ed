import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import type { Writer } from '../cluster/writer.ts';
import { madeByAnnotation } from './bodies.ts';
import type { RestoreTools } from './sources.ts';
import type { Target } from './target.ts';

interface Creating {
  readonly read: ReadRestore;
  readonly target: Pick<Target, 'spec'>;
  readonly tools: RestoreTools;
  readonly writer: Writer;
}

/** It is held from its first moment on, so that its operator founds nothing: it already has a member. It belongs to nobody. */
export async function createCluster({ read, target, tools, writer }: Creating): Promise<void> {
  await writer.create(tools.clusters.resource, clusterFor(read, target, tools)).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // by us, or by another: the next pass sees which
  });
}

function clusterFor(
  { intent }: ReadRestore,
  { spec }: Pick<Target, 'spec'>,
  { dialect, clusters }: RestoreTools,
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
