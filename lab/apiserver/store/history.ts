import type { KubeObject } from '../object.ts';

/** A change of one object. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  /** The new state; after a deletion, the last state. */
  readonly object: KubeObject;
  readonly before: KubeObject | undefined;
}

const maxChanges = 4096;

/** The recent changes of one collection, for clients that resume a watch. */
export class History {
  #changes: ObjectChange[] = [];
  /** All changes after this version are in the history. */
  #knownAfter: number;

  constructor(knownAfter: number) {
    this.#knownAfter = knownAfter;
  }

  add(change: ObjectChange): void {
    this.#changes.push(change);
    if (this.#changes.length <= maxChanges * 2) return;
    this.#changes = this.#changes.slice(-maxChanges);
    this.#knownAfter = (this.#changes[0]?.version ?? 0) - 1;
  }

  /** The changes after a version; `undefined` if it is too old. */
  after(version: number): readonly ObjectChange[] | undefined {
    if (version < this.#knownAfter) return undefined;
    return this.#changes.filter((change) => change.version > version);
  }
}
