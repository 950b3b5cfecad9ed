import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Body } from '../storage/store.ts';

/** Few enough to pile up, and so many that collecting them costs nothing beside reading them. */
const atMostBytes = 8 * 1024 * 1024;

/**
 * Passes a large body on, and has what was read of it collected while it is young. V8 sees only how much memory buffers
 * hold: left alone it looks through all that it has, again and again, which takes half as long as reading the body does.
 */
export async function* collectingEarly(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
  const collect = collector();
  let bytes = 0;
  for await (const part of body) {
    yield part;
    bytes += part.byteLength;
    if (bytes < atMostBytes) continue;
    bytes = 0;
    collect({ type: 'minor' });
  }
}

/** Node shows it only to those who ask V8. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
}
