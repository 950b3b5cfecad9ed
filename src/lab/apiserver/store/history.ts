import type { KubeObject } from '../object.ts';

/** One change of one object. */
export interface Happening {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  /** As it is now; after a deletion, as it last was. */
  readonly object: KubeObject;
  readonly before: KubeObject | undefined;
}

const remembered = 4096;

/** What lately happened in one collection, for those who come back to a watch. */
export class History {
  #happenings: Happening[] = [];
  /** Everything after this version is known. */
  #knownAfter: number;

  constructor(knownAfter: number) {
    this.#knownAfter = knownAfter;
  }

  add(happening: Happening): void {
    this.#happenings.push(happening);
    if (this.#happenings.length <= remembered * 2) return;
    this.#happenings = this.#happenings.slice(-remembered);
    this.#knownAfter = (this.#happenings[0]?.version ?? 0) - 1;
  }

  /** What happened after a version, or nothing if that is too long ago. */
  after(version: number): readonly Happening[] | undefined {
    if (version < this.#knownAfter) return undefined;
    return this.#happenings.filter((happening) => happening.version > version);
  }
}
