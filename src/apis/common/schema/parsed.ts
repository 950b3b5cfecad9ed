/** One problem of an object, as shown to its author. */
export interface Problem {
  readonly path: string; // 'spec.pod.etcdEnv[0].name'
  readonly message: string; // 'must be a whole number'
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };
