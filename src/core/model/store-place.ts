export type StoreKind = 's3' | 'gcs' | 'azblob' | 'oss' | 'file';

/** Where an object is to be kept or found, as somebody wrote it; whether it makes sense is judged by whoever opens stores. */
export interface StorePlace {
  readonly kind: StoreKind;
  /** `bucket/key`; of a `file` store, the volume claim and the path on it. */
  readonly path: string;
  /** The field that says so, for sentences. */
  readonly field: string;
  readonly endpoint?: string | undefined;
  readonly pathStyle?: boolean | undefined;
  /** The Secret that opens it; without one, the pod's own identity does. */
  readonly secret?: string | undefined;
}
