import type { NodeStreams } from '../streams.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Store } from './store/store.ts';
import type { Registry } from './types/registry.ts';

/** What all parts of the server share. */
export interface ServerState {
  readonly store: Store;
  readonly types: Registry;
  readonly tokens: Tokens;
  /** The certificate by which clients know the server, as PEM text. */
  readonly ca: string;
  readonly streamsOf: (node: string) => NodeStreams | undefined;
}
