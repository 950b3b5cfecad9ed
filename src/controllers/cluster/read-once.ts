import type { ClusterDialect, ReadCluster } from '../../dialects/dialect.ts';
import type { Stored } from '../../kube/object.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** The cluster that is asked for, or why there can be none. */
export function readOrRefuse(object: Stored<ClusterObject>, { dialect, refusalOf }: Tools): ReadCluster | string {
  const refusal = refusalOf?.(object);
  if (refusal !== undefined) return refusal;
  const read = readOnce(object, dialect);
  return read.ok ? read.value : read.problems.map(({ path, says }) => `${path}: ${says}`).join('; ');
}

/** An object is never changed, only replaced by another: what was read of it stays true for as long as it is there. */
const alreadyRead = new WeakMap<object, ReturnType<ClusterDialect['read']>>();

function readOnce(object: object, dialect: ClusterDialect): ReturnType<ClusterDialect['read']> {
  const read = alreadyRead.get(object) ?? dialect.read(object);
  alreadyRead.set(object, read);
  return read;
}
