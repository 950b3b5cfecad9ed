import type { ClusterDialect } from './dialect.ts';
import { looksLike, ruled, text } from './rule.ts';

/** Which image members run, in the words of both APIs. */

export const defaultRepository = 'quay.io/coreos/etcd';

/** Three numbers, with or without a v before them. */
export const releasedForm = 'v?(0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,3})';

const pathPart = '[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*';
const registry = '([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9a-fA-F:]+\\])(:[0-9]{1,5})?';

export const imageRepository = ruled(
  text(255),
  looksLike(
    new RegExp(`^((${registry}/)?${pathPart}(/${pathPart})*)?$`),
    'must be an image name without tag or digest, such as quay.io/coreos/etcd: the tag is made from spec.version',
  ),
)
  .default(defaultRepository)
  .transform((written) => written || defaultRepository);

/** Another default: where a cluster names no repository, or the one that is filled in for it, members come from this one. */
export function withRepository(dialect: ClusterDialect, repository: string | undefined): ClusterDialect {
  if (repository === undefined) return dialect;
  const read: ClusterDialect['read'] = (raw) => {
    const parsed = dialect.read(raw);
    if (!parsed.ok) return parsed;
    const { intent } = parsed.value.blueprint;
    const imageOf = (tag: string): string =>
      intent.imageOf(tag) === `${defaultRepository}:v${tag}` ? `${repository}:v${tag}` : intent.imageOf(tag);
    const blueprint = { ...parsed.value.blueprint, intent: { ...intent, imageOf } };
    return { ok: true, value: { ...parsed.value, blueprint } };
  };
  return { ...dialect, read };
}
