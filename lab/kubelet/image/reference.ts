/** A parsed image reference, such as `quay.io/coreos/etcd:v3.1.10`. */
export interface Reference {
  /** Registry and path: `quay.io/coreos/etcd`. */
  readonly repository: string;
  /** The last segment of the repository: `etcd`. */
  readonly name: string;
  readonly tag: string;
}

export function referenceOf(text: string): Reference {
  const [whole = '', digest] = text.split('@');
  const [, repository = whole, tag] = /^(.*?)(?::([\w][\w.-]*))?$/.exec(whole) ?? [];
  return {
    repository,
    name: repository.split('/').at(-1) ?? '',
    tag: tag ?? (digest === undefined ? 'latest' : digest),
  };
}

/** The etcd version of a tag: `any` for `latest`, `undefined` if the tag is no version. */
export function versionOf(tag: string): string | undefined {
  return tag === 'latest' ? 'any' : /^v?(\d+\.\d+\.\d+)(?:-\d+)?$/.exec(tag)?.[1];
}
