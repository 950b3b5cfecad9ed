import type { ApiResponse, Call } from './call.ts';
import { get } from './list.ts';
import { patch } from './patch.ts';
import { bind, evict, makeToken } from './pod-parts.ts';
import { getScale, patchScale, updateScale } from './scale.ts';
import { update } from './update.ts';

type Verb = (call: Call) => ApiResponse | Promise<ApiResponse>;

/** The verbs of subresources. Streams are served elsewhere. */
export const subresources: Readonly<Record<string, Readonly<Record<string, Verb>>>> = {
  status: { get, update, patch },
  scale: { get: getScale, update: updateScale, patch: patchScale },
  binding: { create: bind },
  eviction: { create: evict },
  token: { create: makeToken },
  log: { get },
};
