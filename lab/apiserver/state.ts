import type { NodeStreams } from '../streams.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Store } from './store/store.ts';
import type { Registry } from './types/registry.ts';

/** The state that all parts of the API server share. */
export interface ServerState {
  readonly store: Store;
  readonly types: Registry;
  readonly tokens: Tokens;
  /** The CA certificate of the server, as PEM. */
  readonly ca: string;
  readonly streamsOf: (node: string) => NodeStreams | undefined;
}
