/** A third-party part of the image. */
export interface Part {
  /** The package URL, also used as the reference in the SBOM. */
  readonly purl: string;
  /** The component type of CycloneDX. */
  readonly type: 'library' | 'platform' | 'file' | 'data';
  readonly name: string;
  readonly version?: string | undefined;
  /** The SPDX expression. */
  readonly licence?: string | undefined;
  /** The licence texts and notices to reproduce. */
  readonly texts: readonly Text[];
  readonly hashes?: readonly Hash[];
  readonly cpe?: string;
  /** Components inside the part. */
  readonly within?: readonly Part[];
  /** References of its dependencies. */
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

/** Sorted by reference, for reproducible output. */
export const inOrder = <T extends { readonly purl: string }>(parts: readonly T[]): readonly T[] =>
  parts.toSorted((a, b) => (a.purl < b.purl ? -1 : 1));

/** A package URL; special characters are percent-encoded. */
export const purlOf = (kind: string, name: string, version: string): string =>
  `pkg:${kind}/${name.split('/').map(encodeURIComponent).join('/')}@${encodeURIComponent(version)}`;
