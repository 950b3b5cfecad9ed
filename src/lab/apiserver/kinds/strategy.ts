import type { Fields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../refusal.ts';
import type { ServerState } from '../state.ts';

/** What is particular about one kind. Objects given to be prepared may be changed. */
export interface Strategy {
  /** Sets defaults and whatever the server decides when an object is new. */
  readonly prepare?: (object: KubeObject, state: ServerState) => void;
  /** Sets defaults, and puts back what must not change. */
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, state: ServerState) => void;
  /** What is wrong with the object, or with the change. */
  readonly validate?: (object: KubeObject, old: KubeObject | undefined, state: ServerState) => readonly FieldError[];
  /** Refuses, by throwing, what is in order but not allowed here. */
  readonly admit?: (object: KubeObject, state: ServerState) => void;
  /** The same of a change of what is wanted. */
  readonly admitChange?: (object: KubeObject, old: KubeObject, state: ServerState) => void;
  /** The status of a new object. */
  readonly status?: (object: KubeObject) => Fields;
  /** Whether the status of a new object is what its maker says. */
  readonly keepsStatus?: boolean;
  /** Whether changes of the specification are counted. */
  readonly counts?: boolean;
  readonly checkName?: (name: string) => string | undefined;
}
