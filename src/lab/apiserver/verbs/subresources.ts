import type { Answer, Call } from './call.ts';
import { get } from './list.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';
import { getScale, patchScale, updateScale } from './scale.ts';

type Verb = (call: Call) => Answer | Promise<Answer>;

/** What can be done with the parts of objects that have a path of their own. */
export const subresources: Readonly<Record<string, Readonly<Record<string, Verb>>>> = {
  status: { get, update, patch },
  scale: { get: getScale, update: updateScale, patch: patchScale },
};
