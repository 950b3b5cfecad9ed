import type { V1Probe } from '@kubernetes/client-node';
import type { Json } from '../../../src/kube/object.ts';

export type Probe = Json<V1Probe>;

/** The state of a probe. `verdict` changes only after as many equal results in a row as the threshold. */
export interface ProbeState {
  readonly verdict: 'unknown' | 'success' | 'failure';
  readonly inRow: { readonly result: 'success' | 'failure'; readonly count: number } | undefined;
}

export const unprobed: ProbeState = { verdict: 'unknown', inRow: undefined };

const defaults = { successThreshold: 1, failureThreshold: 3 };

/** The state after one more result. */
export function afterResult(state: ProbeState, probe: Probe, result: 'success' | 'failure'): ProbeState {
  const count = state.inRow?.result === result ? state.inRow.count + 1 : 1;
  const threshold =
    result === 'success'
      ? (probe.successThreshold ?? defaults.successThreshold)
      : (probe.failureThreshold ?? defaults.failureThreshold);
  return { verdict: count >= threshold ? result : state.verdict, inRow: { result, count } };
}

export const periodMillis = ({ periodSeconds = 10 }: Probe): number => periodSeconds * 1000;
export const delayMillis = ({ initialDelaySeconds = 0 }: Probe): number => initialDelaySeconds * 1000;
export const timeoutMillis = ({ timeoutSeconds = 1 }: Probe): number => timeoutSeconds * 1000;
