export type StoreKind = 's3' | 'gcs' | 'azblob' | 'oss' | 'file';

/** The location of an object as written in a spec. It is validated when the store is opened. */
export type StoreLocation = StorePath | StoreUrl;

interface LocationField {
  /** The field of the spec, for messages. */
  readonly field: string;
  /** The Secret with the credentials; without it, the identity of the pod is used. */
  readonly secret?: string | undefined;
}

export interface StorePath extends LocationField {
  readonly kind: StoreKind;
  /** `bucket/key`; for a `file` store, the PVC and the path on it. */
  readonly path: string;
  readonly endpoint?: string | undefined;
  readonly pathStyle?: boolean | undefined;
}

/** The location as one URL. */
export interface StoreUrl extends LocationField {
  readonly url: string;
  /** Values for a template in the URL; undefined if the URL is no template. */
  readonly values?: TemplateValues | undefined;
}

/** The template values of an object URL: fields of the resource that the object is for. */
export interface TemplateValues {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** In the format of the API server: `2026-01-31T12:00:00Z`. */
  readonly creationTimestamp: string;
}
