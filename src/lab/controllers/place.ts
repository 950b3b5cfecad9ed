import type { V1PodAffinityTerm, V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { Json, Node, Pod } from '../../kube/object.ts';
import { meets, selects } from '../selector.ts';

type Term = Json<V1PodAffinityTerm>;

export interface Neighbourhood {
  readonly nodes: readonly Node[];
  /** All pods that are on a node already. */
  readonly pods: readonly Pod[];
}

/** Where a pod goes, or why it goes nowhere. */
export type Place = { readonly node: string } | { readonly message: string };

/** Chooses a node: of those that may have the pod, the one that suits best and has the fewest pods. */
export function placeFor(pod: Pod, around: Neighbourhood): Place {
  const refusals = around.nodes.map((node) => [node, refusal(pod, node, around)] as const);
  const fit = refusals.filter(([, why]) => why === undefined).map(([node]) => node);
  const cost = (node: Node): number => dislike(pod, node, around) * 1000 + podsOn(node, around.pods).length;
  const [best] = fit.toSorted((a, b) => cost(a) - cost(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  if (best !== undefined) return { node: best.metadata.name };
  const counts = Map.groupBy(refusals, ([, why]) => why ?? '');
  const reasons = [...counts].map(([why, all]) => `${all.length} ${why}`).join(', ');
  const total = around.nodes.length;
  return {
    message: total === 0 ? 'no nodes available to schedule pods' : `0/${total} nodes are available: ${reasons}.`,
  };
}

function refusal(pod: Pod, node: Node, around: Neighbourhood): string | undefined {
  const taint = (node.spec?.taints ?? []).find((each) => isHardTaint(each) && !isTolerated(each, pod));
  if (taint !== undefined) return `node(s) had untolerated taint(s)`;
  if (!isReadyNode(node)) return 'node(s) were not ready';
  if (node.spec?.unschedulable === true) return 'node(s) were unschedulable';
  if (!matchesNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  const apart = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (apart.some((term) => meetsNeighbour(term, { pod, node, around })))
    return "node(s) didn't match pod anti-affinity rules";
  const together = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (!together.every((term) => meetsNeighbour(term, { pod, node, around }) || isFirstOfItsKind(term, pod, around)))
    return "node(s) didn't match pod affinity rules";
  return undefined;
}

export const isReadyNode = (node: Node | undefined): boolean =>
  (node?.status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

const isHardTaint = ({ effect }: Json<V1Taint>): boolean => effect !== 'PreferNoSchedule';

/** Whether a pod puts up with a taint. */
export const isTolerated = (taint: Json<V1Taint>, { spec }: Pod): boolean =>
  (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));

export const tolerates = ({ key, operator, value, effect }: Json<V1Toleration>, taint: Json<V1Taint>): boolean =>
  (effect === undefined || effect === '' || effect === taint.effect) &&
  (key === undefined || key === '' || key === taint.key) &&
  (operator === 'Exists' || (value ?? '') === (taint.value ?? ''));

function matchesNode({ spec }: Pod, node: Node): boolean {
  const { labels = {}, name } = node.metadata;
  const wanted = Object.entries(spec?.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.every((requirement) => meets(requirement, labels)) &&
      matchFields.every((requirement) => meets(requirement, { 'metadata.name': name })),
  );
}

interface Candidate {
  readonly pod: Pod;
  readonly node: Node;
  readonly around: Neighbourhood;
}

/** Whether a pod that the term speaks of is in the same place as this node. */
function meetsNeighbour(term: Term, { pod, node, around }: Candidate): boolean {
  const zone = node.metadata.labels?.[term.topologyKey];
  const same = around.nodes.filter(({ metadata }) => metadata.labels?.[term.topologyKey] === zone);
  return same.some((each) => podsOn(each, around.pods).some((other) => isMeant(term, pod, other)));
}

const isMeant = ({ labelSelector, namespaces }: Term, pod: Pod, other: Pod): boolean =>
  (namespaces?.length ? namespaces : [pod.metadata.namespace]).includes(other.metadata.namespace ?? '') &&
  selects(labelSelector, other.metadata.labels);

/** The first of a group that wants to be together cannot be with the others yet. */
const isFirstOfItsKind = (term: Term, pod: Pod, { pods }: Neighbourhood): boolean =>
  isMeant(term, pod, pod) && !pods.some((other) => isMeant(term, pod, other));

const podsOn = ({ metadata }: Node, pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(({ spec }) => spec?.nodeName === metadata.name);

/** How much the pod would rather not be there. */
function dislike(pod: Pod, node: Node, around: Neighbourhood): number {
  const apart = pod.spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return apart
    .filter(({ podAffinityTerm }) => meetsNeighbour(podAffinityTerm, { pod, node, around }))
    .reduce((sum, { weight }) => sum + weight, 0);
}
