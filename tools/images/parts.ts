/** What the image is made of. Everything in it that is not ours is one of these. */
export interface Part {
  /** Package URL, which is also its reference in the SBOM. */
  readonly purl: string;
  /** In the words of CycloneDX. */
  readonly type: 'library' | 'platform' | 'file' | 'data';
  readonly name: string;
  readonly version?: string | undefined;
  /** SPDX expression. */
  readonly licence?: string | undefined;
  /** What the licence asks to be shown: its text, and notices. */
  readonly texts: readonly Text[];
  readonly hashes?: readonly Hash[];
  readonly cpe?: string;
  /** What is inside it and known by a name of its own. */
  readonly within?: readonly Part[];
  /** References of the parts that it needs. */
  readonly needs: readonly string[];
}

export interface Text {
  readonly title: string;
  readonly text: string;
}

export interface Hash {
  readonly alg: 'SHA-256' | 'SHA-512';
  readonly content: string;
}

/** In order of their references, whatever the order in which a machine lists its files. */
export const inOrder = <T extends { readonly purl: string }>(parts: readonly T[]): readonly T[] =>
  parts.toSorted((a, b) => (a.purl < b.purl ? -1 : 1));

/** A package URL: characters beside those of plain names are written as `%2B`. */
export const purlOf = (kind: string, name: string, version: string): string =>
  `pkg:${kind}/${name.split('/').map(encodeURIComponent).join('/')}@${encodeURIComponent(version)}`;
