export type StoreKind = 's3' | 'gcs' | 'azblob' | 'oss' | 'file';

/** Where an object is to be kept or found, as somebody wrote it; whether it makes sense is judged by whoever opens stores. */
export type StorePlace = StorePath | StoreUrl;

interface Written {
  /** The field that says so, for sentences. */
  readonly field: string;
  /** The Secret that opens it; without one, the pod's own identity does. */
  readonly secret?: string | undefined;
}

export interface StorePath extends Written {
  readonly kind: StoreKind;
  /** `bucket/key`; of a `file` store, the volume claim and the path on it. */
  readonly path: string;
  readonly endpoint?: string | undefined;
  readonly pathStyle?: boolean | undefined;
}

/** All of it as one URL. */
export interface StoreUrl extends Written {
  readonly url: string;
  /** What the words of a template stand for; without them the URL is meant as it is. */
  readonly words?: ObjectWords | undefined;
}

/** What the URL of an object may speak of: the resource that it is for. */
export interface ObjectWords {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** As the API server writes it: `2026-01-31T12:00:00Z`. */
  readonly creationTimestamp: string;
}
