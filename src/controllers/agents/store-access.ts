import { type AgentMount, agentPaths } from '../../core/desired/agent-pod.ts';
import type { StorePlace } from '../../core/model/store-place.ts';
import { isPlainHttp, type ObjectAddress, parsePath, urlOf } from '../../storage/address.ts';

/** How an agent enters a store: what is told on its command line, and what is mounted for it. */
export interface StoreAccess {
  readonly words: readonly string[];
  readonly mounts: readonly AgentMount[];
  /** Whether others can read along on the way. */
  readonly isPlain: boolean;
}

/** Throws a Failure that names the field, where the place makes no sense. */
export function storeAccess(place: StorePlace, use: 'to-read' | 'to-write'): StoreAccess {
  const address = addressOf(place);
  const url = ['--url', urlOf(address)];
  const isPlain = isPlainHttp(address.store);
  if (place.kind === 'file') {
    const mount = { path: agentPaths.volume, claim: address.store.bucket, readOnly: use === 'to-read' };
    return { words: [...url, '--volume', agentPaths.volume], mounts: [mount], isPlain };
  }
  if (place.secret === undefined) return { words: url, mounts: [], isPlain };
  return {
    words: [...url, '--credentials', agentPaths.storeSecret, '--secret', place.secret],
    mounts: [{ path: agentPaths.storeSecret, secret: place.secret }],
    isPlain,
  };
}

function addressOf({ kind, path, endpoint, pathStyle, field }: StorePlace): ObjectAddress {
  const store = {
    kind,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(pathStyle === true ? { pathStyle } : {}),
  } as const;
  return parsePath(path, store, field);
}
