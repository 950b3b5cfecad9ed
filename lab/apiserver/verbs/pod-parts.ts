import { at, copy, type Fields, fieldsIn, fieldsOf, numberOf, textOf } from '../json.ts';
import { assignedPod } from '../kinds/pods.ts';
import { type KubeObject, now } from '../object.ts';
import { selectorOf } from '../selectors.ts';
import type { ServerState } from '../state.ts';
import { badRequest, conflict, notFound, StatusError } from '../status-error.ts';
import { type ApiResponse, type Call, namedOf, writeOptionsOf } from './call.ts';
import { parseBody } from './decode.ts';
import { type RemoveOptions, removeObject } from './remove.ts';
import { find, placeOf } from './update.ts';

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** Assigns a pod to a node. */
export function bind(call: Call): ApiResponse {
  const { state, type } = call;
  const node = textOf(at(parseBody(call), 'target', 'name'));
  const pod = find(call);
  if (node === '') throw badRequest('a binding must name its target');
  if (textOf(at(pod, 'spec', 'nodeName')) !== '')
    throw conflict(
      namedOf(type, pod.metadata.name),
      `pod ${pod.metadata.name} is already assigned to node "${textOf(at(pod, 'spec', 'nodeName'))}"`,
    );
  if (!writeOptionsOf(call).dryRun) state.store.put(placeOf(type, pod.metadata), assignedPod(pod, node));
  return { code: 201, body: success };
}

/** Deletes a pod if its PodDisruptionBudget allows it. */
export function evict(call: Call): ApiResponse {
  const { state, type } = call;
  const options = fieldsOf(at(parseBody(call), 'deleteOptions')) as RemoveOptions;
  const pod = find(call);
  const dryRun = writeOptionsOf(call).dryRun || (Array.isArray(options.dryRun) && options.dryRun.length > 0);
  if (needsBudget(pod)) useBudget(state, pod, dryRun);
  removeObject(state, { type, object: pod }, { ...options, dryRun });
  return { code: 201, body: success };
}

/** A finished or pending pod can always be evicted. */
const needsBudget = (pod: KubeObject): boolean =>
  !/^(Succeeded|Failed|Pending)$/.test(textOf(at(pod, 'status', 'phase'))) &&
  pod.metadata.deletionTimestamp === undefined;

function useBudget(state: ServerState, pod: KubeObject, dryRun: boolean): void {
  const budget = budgetOf(state, pod);
  if (budget === undefined || (isUnready(pod) && isHealthy(budget))) return;
  const allowed = numberOf(at(budget, 'status', 'disruptionsAllowed'));
  if (allowed < 1 || isStatusStale(budget)) throw tooMany(budget);
  const status: Fields = {
    ...fieldsOf(budget['status']),
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...fieldsOf(at(budget, 'status', 'disruptedPods')), [pod.metadata.name]: now() },
  };
  const { namespace = '', name } = budget.metadata;
  if (!dryRun) state.store.put({ collection: budgetCollection, namespace, name }, { ...copy(budget), status });
}

const budgetCollection = 'policy/poddisruptionbudgets';

function budgetOf({ store }: ServerState, { metadata }: KubeObject): KubeObject | undefined {
  const budgets = store
    .list(budgetCollection, metadata.namespace)
    .filter((budget) => selectorOf(at(budget, 'spec', 'selector'))(metadata.labels ?? {}));
  if (budgets.length > 1)
    throw new StatusError(500, 'InternalError', {
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  return budgets[0];
}

/** True if the budget's status is older than its spec. */
const isStatusStale = ({ metadata, ...budget }: KubeObject): boolean =>
  numberOf(at(budget, 'status', 'observedGeneration')) < (metadata.generation ?? 0);

const isUnready = (pod: KubeObject): boolean =>
  !fieldsIn(at(pod, 'status', 'conditions')).some(({ type, status }) => type === 'Ready' && status === 'True');

const isHealthy = (budget: KubeObject): boolean => {
  const { currentHealthy, desiredHealthy } = fieldsOf(budget['status']);
  return numberOf(desiredHealthy) > 0 && numberOf(currentHealthy) >= numberOf(desiredHealthy);
};

function tooMany({ metadata, ...budget }: KubeObject): StatusError {
  const { currentHealthy, desiredHealthy } = fieldsOf(budget['status']);
  const message = `The disruption budget ${metadata.name} needs ${numberOf(desiredHealthy)} healthy pods and has ${numberOf(currentHealthy)} currently`;
  return new StatusError(429, 'TooManyRequests', {
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message, field: '' }] },
  });
}

const minSeconds = 600;
const defaultSeconds = 3600;

/** Issues a token for a ServiceAccount. */
export async function makeToken(call: Call): Promise<ApiResponse> {
  const { state } = call;
  const account = find(call);
  const request = fieldsOf(parseBody(call));
  const spec = fieldsOf(request['spec']);
  const reference = fieldsOf(spec['boundObjectRef']);
  const boundTo = reference['name'] === undefined ? undefined : boundObject(state, account, reference);
  const audiences = (Array.isArray(spec['audiences']) ? spec['audiences'] : []).map(String);
  const seconds = Math.max(minSeconds, numberOf(spec['expirationSeconds']) || defaultSeconds);
  const { token, expires } = await state.tokens.make({ account, seconds, audiences, ...(boundTo && { boundTo }) });
  const { name, namespace } = account.metadata;
  const status = { token, expirationTimestamp: expires };
  const metadata = { name, namespace, creationTimestamp: now() };
  const body = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata,
    spec: { ...spec, audiences, expirationSeconds: seconds },
    status,
  };
  return { code: 201, body };
}

function boundObject(
  { store }: ServerState,
  account: KubeObject,
  { kind, name }: Fields,
): { kind: string; name: string; uid: string } {
  const collection = `/${textOf(kind).toLowerCase()}s`;
  const found = store.get({ collection, namespace: account.metadata.namespace ?? '', name: textOf(name) });
  if (found === undefined) throw notFound({ group: '', plural: collection.slice(1), name: textOf(name) });
  return { kind: textOf(kind), name: textOf(name), uid: found.metadata.uid };
}
