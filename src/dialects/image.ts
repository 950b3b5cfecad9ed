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
