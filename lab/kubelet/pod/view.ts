import type { Health } from '../probe/prober.ts';
import type { CrashBackoff } from './backoff.ts';

/** The exit of one run of a container. */
export interface Termination {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly id: string;
}

export type ContainerState =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string; readonly retryAt?: number }
  | { readonly is: 'running'; readonly startedAt: string; readonly id: string; readonly health: Health }
  | ({ readonly is: 'terminated' } & Termination);

/** The kubelet's view of one container. */
export interface ContainerView {
  readonly name: string;
  /** The image of the last run. */
  readonly image: string;
  readonly imageId: string;
  readonly state: ContainerState;
  /** The exit of the run before. */
  readonly last: Termination | undefined;
  readonly restartCount: number;
  readonly backoff: CrashBackoff | undefined;
}

export type Views = Readonly<Record<string, ContainerView>>;

export const freshView = (name: string, image: string): ContainerView => ({
  name,
  image,
  imageId: '',
  state: { is: 'waiting', reason: 'ContainerCreating' },
  last: undefined,
  restartCount: 0,
  backoff: undefined,
});
