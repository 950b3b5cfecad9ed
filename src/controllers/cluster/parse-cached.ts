import type { ClusterDialect, ReadCluster } from '../../apis/common/dialect.ts';
import type { Stored } from '../../kube/object.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';

/** Returns the parsed cluster, or the reasons why its spec is refused. */
export function parseOrRefuse(
  object: Stored<ClusterObject>,
  { dialect, refusalOf }: ControllerContext,
): ReadCluster | string {
  const refusal = refusalOf?.(object);
  if (refusal !== undefined) return refusal;
  const read = parseOnce(object, dialect);
  return read.ok ? read.value : read.problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** Cached objects are immutable, so each object is parsed once. */
const parsedObjects = new WeakMap<object, ReturnType<ClusterDialect['read']>>();

function parseOnce(object: object, dialect: ClusterDialect): ReturnType<ClusterDialect['read']> {
  const read = parsedObjects.get(object) ?? dialect.read(object);
  parsedObjects.set(object, read);
  return read;
}
