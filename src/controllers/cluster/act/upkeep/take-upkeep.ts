import { partOf, type UpkeepPart, type UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import type { Failure } from '../../../../std/failure.ts';
import { failureOf, worstOf } from '../../failure-report.ts';
import type { Upkeep } from '../freshness.ts';

/** How a part of upkeep treats a failed step. */
interface Policy {
  /** True if the other steps of the part wait for the next pass. */
  readonly stopsAfter: (failure: Failure) => boolean;
  /** The failure to report, if the part was not stopped. */
  readonly reported: (failures: readonly Failure[]) => Failure | undefined;
}

const isRefusal = ({ kind }: Failure): boolean => kind === 'forbidden' || kind === 'rejected';
const first = (failures: readonly Failure[]): Failure | undefined => failures[0];
const never = (): boolean => false;

const policies: Readonly<Record<UpkeepPart, Policy>> = {
  services: { stopsAfter: never, reported: first },
  peers: { stopsAfter: never, reported: worstOf },
  owners: { stopsAfter: never, reported: worstOf },
  labels: { stopsAfter: () => true, reported: first },
  serving: { stopsAfter: never, reported: worstOf },
  // a refusal may hold for one PVC only
  sizes: { stopsAfter: (failure) => !isRefusal(failure), reported: first },
};

/** The status reports one failure: the first of these. */
const reportOrder: readonly UpkeepPart[] = ['peers', 'services', 'owners', 'labels', 'serving', 'sizes'];

interface Taking {
  readonly take: (step: UpkeepStep) => Promise<void>;
  /** True if the cluster has formed: then a failure blocks no step. */
  readonly hasFormed: boolean;
}

/**
 * Takes upkeep steps. Members run without EtcdPeers and with outdated PVCs, so a failure of one part stops neither the
 * other parts nor the steps of the verdict. Only a Service that cannot be created blocks the bootstrap.
 */
export async function takeUpkeep(steps: readonly UpkeepStep[], { take, hasFormed }: Taking): Promise<Upkeep> {
  const failures = new Map<UpkeepPart, Failure>();
  for (const [part, ofPart] of Map.groupBy(steps, partOf)) {
    const failure = await takePart(ofPart, policies[part], take);
    if (failure === undefined) continue;
    if (part === 'services' && !hasFormed) throw failure;
    failures.set(part, failure);
  }
  const [aside] = reportOrder.flatMap((part) => failures.get(part) ?? []);
  return { aside, ofClaims: failures.get('owners') };
}

async function takePart(
  steps: readonly UpkeepStep[],
  { stopsAfter, reported }: Policy,
  take: Taking['take'],
): Promise<Failure | undefined> {
  const failures: Failure[] = [];
  for (const step of steps) {
    const failure = await failureOf(take(step));
    if (failure === undefined) continue;
    if (stopsAfter(failure)) return failure;
    failures.push(failure);
  }
  return reported(failures);
}
