import type { ControllerContext } from '../../../shared/context.ts';
import type { Writer } from '../../../shared/writer.ts';

/** The dependencies of an upkeep step. The cluster may be deleted already. */
export interface UpkeepContext {
  readonly cluster: { readonly namespace: string; readonly name: string };
  readonly controller: Pick<ControllerContext, 'caches' | 'recordEvent' | 'peers'>;
  readonly writer: Writer;
  readonly signal: AbortSignal;
}
