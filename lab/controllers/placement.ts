import type { V1NodeSelectorTerm, V1PodAffinityTerm, V1Taint, V1Toleration } from '@kubernetes/client-node';
import type { Json, Node, Pod } from '../../src/kube/object.ts';
import { meets, selects } from '../selector.ts';

type Term = Json<V1PodAffinityTerm>;

export interface ClusterState {
  readonly nodes: readonly Node[];
  /** All pods that are assigned to a node. */
  readonly pods: readonly Pod[];
}

/** The chosen node, or why there is none. */
export type Placement = { readonly node: string } | { readonly message: string };

/** Chooses a node: among the feasible ones the least disliked, then the one with the fewest pods. */
export function chooseNode(pod: Pod, cluster: ClusterState): Placement {
  const refusals = cluster.nodes.map((node) => [node, refusal(pod, node, cluster)] as const);
  const fit = refusals.filter(([, why]) => why === undefined).map(([node]) => node);
  const cost = (node: Node): number =>
    antiAffinityWeight(pod, node, cluster) * 1000 + podsOn(node, cluster.pods).length;
  const [best] = fit.toSorted((a, b) => cost(a) - cost(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  if (best !== undefined) return { node: best.metadata.name };
  const counts = Map.groupBy(refusals, ([, why]) => why ?? '');
  const reasons = [...counts].map(([why, all]) => `${all.length} ${why}`).join(', ');
  const total = cluster.nodes.length;
  return {
    message: total === 0 ? 'no nodes available to schedule pods' : `0/${total} nodes are available: ${reasons}.`,
  };
}

function refusal(pod: Pod, node: Node, cluster: ClusterState): string | undefined {
  const { taints = [], unschedulable = false } = node.spec ?? {};
  if (taints.some((taint) => isHardTaint(taint) && !isTolerated(taint, pod))) return 'node(s) had untolerated taint(s)';
  if (!isReadyNode(node)) return 'node(s) were not ready';
  if (unschedulable) return 'node(s) were unschedulable';
  if (!matchesNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  return affinityRefusal({ pod, node, cluster });
}

function required({ spec }: Pod): { readonly apart: readonly Term[]; readonly together: readonly Term[] } {
  const { podAntiAffinity, podAffinity } = spec?.affinity ?? {};
  return {
    apart: podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    together: podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  };
}

/** Why the pod's affinity rules exclude the node. */
function affinityRefusal(candidate: Candidate): string | undefined {
  const { pod, cluster } = candidate;
  const { apart, together } = required(pod);
  if (apart.some((term) => hasMatchingPod(term, candidate))) return "node(s) didn't match pod anti-affinity rules";
  if (together.every((term) => hasMatchingPod(term, candidate) || isFirstOfGroup(term, pod, cluster))) return undefined;
  return "node(s) didn't match pod affinity rules";
}

export const isReadyNode = (node: Node | undefined): boolean =>
  (node?.status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

const isHardTaint = ({ effect }: Json<V1Taint>): boolean => effect !== 'PreferNoSchedule';

/** True if a pod tolerates a taint. */
export const isTolerated = (taint: Json<V1Taint>, { spec }: Pod): boolean =>
  (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));

/** An empty key or effect of a toleration matches all. */
export function tolerates(toleration: Json<V1Toleration>, taint: Json<V1Taint>): boolean {
  const { key = '', operator, value = '', effect = '' } = toleration;
  const matches = [effect, key].every((given, index) => given === '' || given === [taint.effect, taint.key][index]);
  return matches && (operator === 'Exists' || value === (taint.value ?? ''));
}

function matchesNode({ spec }: Pod, { metadata: { labels = {}, name } }: Node): boolean {
  const { nodeSelector = {}, affinity } = spec ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const { requiredDuringSchedulingIgnoredDuringExecution: demand } = affinity?.nodeAffinity ?? {};
  return demand === undefined || demand.nodeSelectorTerms.some((term) => meetsTerm(term, { labels, name }));
}

function meetsTerm(
  { matchExpressions = [], matchFields = [] }: Json<V1NodeSelectorTerm>,
  { labels, name }: { readonly labels: Readonly<Record<string, string>>; readonly name: string },
): boolean {
  return (
    matchExpressions.every((requirement) => meets(requirement, labels)) &&
    matchFields.every((requirement) => meets(requirement, { 'metadata.name': name }))
  );
}

interface Candidate {
  readonly pod: Pod;
  readonly node: Node;
  readonly cluster: ClusterState;
}

/** True if a pod matching the term runs in the same topology domain as the node. */
function hasMatchingPod(term: Term, { pod, node, cluster }: Candidate): boolean {
  const domain = node.metadata.labels?.[term.topologyKey];
  if (domain === undefined) return false; // a node without the label is in no topology domain
  const same = cluster.nodes.filter(({ metadata }) => metadata.labels?.[term.topologyKey] === domain);
  return same.some((each) => podsOn(each, cluster.pods).some((other) => isSelected(term, pod, other)));
}

const isSelected = ({ labelSelector, namespaces }: Term, pod: Pod, other: Pod): boolean =>
  (namespaces?.length ? namespaces : [pod.metadata.namespace]).includes(other.metadata.namespace ?? '') &&
  selects(labelSelector, other.metadata.labels);

/** The first pod of a group with affinity to itself has no other pod to be near to. */
const isFirstOfGroup = (term: Term, pod: Pod, { pods }: ClusterState): boolean =>
  isSelected(term, pod, pod) && !pods.some((other) => isSelected(term, pod, other));

const podsOn = ({ metadata }: Node, pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(({ spec }) => spec?.nodeName === metadata.name);

/** The weight of the preferred anti-affinity terms that the node violates. */
function antiAffinityWeight(pod: Pod, node: Node, cluster: ClusterState): number {
  const apart = pod.spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return apart
    .filter(({ podAffinityTerm }) => hasMatchingPod(podAffinityTerm, { pod, node, cluster }))
    .reduce((sum, { weight }) => sum + weight, 0);
}
