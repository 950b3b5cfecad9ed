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

/**
 * The etcd version that a tag stands for: `v3.5.21`, `3.5.21-0`; `undefined` for any, which `latest` asks for. What no
 * version can be read from is an answer of its own.
 */
export function versionOf(tag: string): string | undefined | 'unreadable' {
  if (tag === 'latest') return undefined;
  return /^v?(\d+\.\d+\.\d+)(?:-\d+)?$/.exec(tag)?.[1] ?? 'unreadable';
}
