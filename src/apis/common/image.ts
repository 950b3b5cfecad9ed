import type { ClusterDialect } from './dialect.ts';
import { looksLike, text, withRules } from './schema/rule.ts';

/** The etcd image of members, as both APIs configure it. */

export const defaultRepository = 'quay.io/coreos/etcd';

/** A release: three numbers, with or without a leading v. */
export const releasedForm = 'v?(0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,2})[.](0|[1-9][0-9]{0,3})';

const digestForm = '@sha256:[0-9a-f]{64}';
const longestName = 255;
const longestDigest = '@sha256:'.length + 64;

/** A release, optionally followed by the digest of its image. */
export const pinnableForm = `${releasedForm}(${digestForm})?`;
export const longestVersion = 32 + longestDigest;

const pathPart = '[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*';
const registry = '([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\\[[0-9a-fA-F:]+\\])(:[0-9]{1,5})?';
const nameForm = `(${registry}/)?${pathPart}(/${pathPart})*`;

export const imageRepository = withRules(
  text(longestName + longestDigest),
  looksLike(
    new RegExp(`^(${nameForm}(${digestForm})?)?$`),
    'must be an image name without tag, such as quay.io/coreos/etcd: the tag is made from spec.version. ' +
      'A digest of 64 hexadecimal digits may follow it: quay.io/coreos/etcd@sha256:...',
  ),
  looksLike(
    new RegExp(`^[^@]{0,${longestName}}(@.*)?$`),
    `must not be longer than ${longestName} characters without its digest`,
  ),
)
  .default(defaultRepository)
  .transform((written) => written || defaultRepository)
  .describe(
    'repository is the image name without tag; members run <repository>:v<version>. With a digest ' +
      '(<repository>@sha256:<digest>) members run exactly that image, which must be of spec.version: change both together.',
  );

interface Written {
  readonly version: string;
  readonly repository: string;
}

export const oneDigest = {
  cel: "!(self.version.contains('@') && self.repository.contains('@'))",
  message: 'version and repository must not both have a digest: write the digest of the image in one of them',
  holds: ({ version, repository }: Written) => !(version.includes('@') && repository.includes('@')),
} as const;

/** Moves the digest from `version` or `repository` into a field of its own. */
export function splitDigest<Spec extends Written>(spec: Spec) {
  const [version = '', ofVersion] = spec.version.split('@');
  const [repository = '', ofRepository] = spec.repository.split('@');
  return { ...spec, version, repository, digest: ofVersion ?? ofRepository };
}

interface Pinned extends Written {
  readonly digest: string | undefined;
}

/** The image of a version, for the core. The digest belongs to one version; all other versions use a tag. */
export const imagesOf = ({ version, repository, digest }: Pinned) => ({
  imageOf: (tag: string): string =>
    `${repository}:v${tag}${digest === undefined || tag !== version ? '' : `@${digest}`}`,
  isPinned: digest !== undefined,
});

/** Valid values of `--etcd-repository`. Digests are invalid: a digest fits one version, and clusters run several. */
export const isRepositoryWithoutDigest = (name: string): boolean =>
  name.length <= longestName && new RegExp(`^${nameForm}$`).test(name);

/** Replaces the default repository. Clusters that name another repository keep it. */
export function withRepository(dialect: ClusterDialect, repository: string | undefined): ClusterDialect {
  if (repository === undefined) return dialect;
  const read: ClusterDialect['read'] = (raw) => {
    const parsed = dialect.read(raw);
    if (!parsed.ok) return parsed;
    const { intent } = parsed.value.blueprint;
    const defaultPrefix = `${defaultRepository}:v`;
    const imageOf = (tag: string): string => {
      const image = intent.imageOf(tag);
      return image.startsWith(defaultPrefix) ? `${repository}:v${image.slice(defaultPrefix.length)}` : image;
    };
    const blueprint = { ...parsed.value.blueprint, intent: { ...intent, imageOf } };
    return { ok: true, value: { ...parsed.value, blueprint } };
  };
  return { ...dialect, read };
}
