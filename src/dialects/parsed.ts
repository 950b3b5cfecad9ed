/** One thing that is wrong with an object, in words for the person who wrote it. */
export interface Problem {
  readonly path: string; // 'spec.pod.etcdEnv[0].name'
  readonly says: string; // 'must be a whole number'
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };
