import type { Fields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { FieldError } from '../status-error.ts';

/** The behaviour of one kind. The functions that prepare objects change them in place. */
export interface Strategy {
  /** Sets defaults and server-decided fields of a new object. */
  readonly prepare?: (object: KubeObject, state: ServerState) => void;
  /** Sets defaults, and restores fields that must not change. */
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, state: ServerState) => void;
  /** The errors of the object or of its change. */
  readonly validate?: (object: KubeObject, old: KubeObject | undefined, state: ServerState) => readonly FieldError[];
  /** Throws if a valid new object is not allowed here. */
  readonly admit?: (object: KubeObject, state: ServerState) => void;
  /** Throws if a valid change is not allowed here. */
  readonly admitChange?: (object: KubeObject, old: KubeObject, state: ServerState) => void;
  /** The status of a new object. */
  readonly status?: (object: KubeObject) => Fields;
  /** True if a new object keeps the status it is created with. */
  readonly keepsStatus?: boolean;
  /** True if metadata.generation counts spec changes. */
  readonly hasGeneration?: boolean;
  readonly checkName?: (name: string) => string | undefined;
}
