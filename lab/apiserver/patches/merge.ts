import { type Fields, isFields } from '../json.ts';

/** A JSON merge patch (RFC 7396): null removes a field, objects are merged, anything else replaces. */
export function mergePatch(target: unknown, patch: Fields): Fields {
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [field, content] of Object.entries(patch)) {
    if (content === null) delete merged[field];
    else merged[field] = isFields(content) ? mergePatch(merged[field], content) : content;
  }
  return merged;
}
