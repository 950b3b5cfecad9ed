import type { V1NodeSelectorTerm, V1PodAffinityTerm, V1Taint, V1Toleration } from '@kubernetes/client-node';
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
  const { taints = [], unschedulable = false } = node.spec ?? {};
  if (taints.some((taint) => isHardTaint(taint) && !isTolerated(taint, pod))) return 'node(s) had untolerated taint(s)';
  if (!isReadyNode(node)) return 'node(s) were not ready';
  if (unschedulable) return 'node(s) were unschedulable';
  if (!matchesNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  return quarrel({ pod, node, around });
}

function required({ spec }: Pod): { readonly apart: readonly Term[]; readonly together: readonly Term[] } {
  const { podAntiAffinity, podAffinity } = spec?.affinity ?? {};
  return {
    apart: podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    together: podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  };
}

/** Why the pod cannot be among the pods that are there. */
function quarrel(candidate: Candidate): string | undefined {
  const { pod, around } = candidate;
  const { apart, together } = required(pod);
  if (apart.some((term) => meetsNeighbour(term, candidate))) return "node(s) didn't match pod anti-affinity rules";
  if (together.every((term) => meetsNeighbour(term, candidate) || isFirstOfItsKind(term, pod, around)))
    return undefined;
  return "node(s) didn't match pod affinity rules";
}

export const isReadyNode = (node: Node | undefined): boolean =>
  (node?.status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

const isHardTaint = ({ effect }: Json<V1Taint>): boolean => effect !== 'PreferNoSchedule';

/** Whether a pod puts up with a taint. */
export const isTolerated = (taint: Json<V1Taint>, { spec }: Pod): boolean =>
  (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taint));

/** What a toleration leaves out, it takes as it comes. */
export function tolerates(toleration: Json<V1Toleration>, taint: Json<V1Taint>): boolean {
  const { key = '', operator, value = '', effect = '' } = toleration;
  const isMeantFor = [effect, key].every((given, index) => given === '' || given === [taint.effect, taint.key][index]);
  return isMeantFor && (operator === 'Exists' || value === (taint.value ?? ''));
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
  readonly around: Neighbourhood;
}

/** Whether a pod that the term speaks of is in the same place as this node. */
function meetsNeighbour(term: Term, { pod, node, around }: Candidate): boolean {
  const zone = node.metadata.labels?.[term.topologyKey];
  if (zone === undefined) return false; // a node without that label is in no place that others could be in as well
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
