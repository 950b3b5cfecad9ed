import { type Fields, isFields } from '../json.ts';

/** RFC 7396: null takes a field away, objects are merged, all else replaces. */
export function mergePatch(target: unknown, patch: Fields): Fields {
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [field, content] of Object.entries(patch)) {
    if (content === null) delete merged[field];
    else merged[field] = isFields(content) ? mergePatch(merged[field], content) : content;
  }
  return merged;
}
