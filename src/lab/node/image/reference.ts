/** A name of an image, taken apart: `quay.io/coreos/etcd:v3.1.10`. */
export interface Reference {
  /** Registry and path: `quay.io/coreos/etcd`. */
  readonly repository: string;
  /** The last word of the repository: `etcd`. */
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

/** The etcd version that a tag stands for: `any`, which `latest` asks for; `undefined` if it cannot be read. */
export function versionOf(tag: string): string | undefined {
  return tag === 'latest' ? 'any' : /^v?(\d+\.\d+\.\d+)(?:-\d+)?$/.exec(tag)?.[1];
}
