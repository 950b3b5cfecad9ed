import { at, copy, type Fields, fieldsOf, fill, isFields, listOf, put, same, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { parseQuantity } from '../quantity.ts';
import type { FieldError } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import type { Strategy } from './strategy.ts';

const defaultMark = 'storageclass.kubernetes.io/is-default-class';

function defaultClass({ store }: ServerState): string | undefined {
  return store
    .list('storage.k8s.io/storageclasses')
    .find(({ metadata }) => metadata.annotations?.[defaultMark] === 'true')?.metadata.name;
}

export const claims: Strategy = {
  prepare: (claim, state) => {
    if (!isFields(claim['spec'])) claim['spec'] = {};
    const spec = fieldsOf(claim['spec']);
    const name = defaultClass(state);
    fill(spec, { volumeMode: 'Filesystem', ...(name !== undefined && { storageClassName: name }) });
  },
  status: () => ({ phase: 'Pending' }),
  validate: (claim, old, state) => (old === undefined ? newClaimErrors(claim) : claimChangeErrors(claim, old, state)),
};

function newClaimErrors(claim: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (listOf(at(claim, 'spec', 'accessModes')).length === 0)
    errors.push({ type: 'Required', path: 'spec.accessModes', says: 'at least 1 access mode is required' });
  if (at(claim, 'spec', 'resources', 'requests', 'storage') === undefined)
    errors.push({ type: 'Required', path: 'spec.resources[storage]', says: '' });
  return errors;
}

const fixedPart = (claim: KubeObject): Fields => {
  const spec = copy(fieldsOf(claim['spec']));
  put(spec, ['resources'], undefined);
  put(spec, ['volumeAttributesClassName'], undefined);
  return spec;
};

/** A claim can grow, where its class allows that, and be bound. */
function claimChangeErrors(claim: KubeObject, old: KubeObject, state: ServerState): readonly FieldError[] {
  const before = fixedPart(old);
  before['volumeName'] ??= at(claim, 'spec', 'volumeName');
  if (before['volumeName'] === undefined) delete before['volumeName'];
  if (!same(fixedPart(claim), before)) return [{ type: 'Forbidden', path: 'spec', says: immutable }];
  const path = 'spec.resources.requests.storage';
  const growth = sizeOf(claim) - sizeOf(old);
  if (growth < 0n) return [{ type: 'Forbidden', path, says: 'field can not be less than status.capacity' }];
  return growth === 0n || mayGrow(claim, state) ? [] : [{ type: 'Forbidden', path, says: cannotGrow }];
}

const immutable =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const cannotGrow =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

const sizeOf = (claim: KubeObject): bigint =>
  parseQuantity(textOf(at(claim, 'spec', 'resources', 'requests', 'storage')))?.nanos ?? 0n;

function mayGrow(claim: KubeObject, { store }: ServerState): boolean {
  const name = textOf(at(claim, 'spec', 'storageClassName'));
  const kind = store.get({ collection: 'storage.k8s.io/storageclasses', namespace: '', name });
  return kind?.['allowVolumeExpansion'] === true;
}

export const volumes: Strategy = {
  prepare: (volume) => {
    if (isFields(volume['spec']))
      fill(volume['spec'], { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  },
  status: () => ({ phase: 'Pending' }),
};

export const storageClasses: Strategy = {
  prepare: (kind) => fill(kind, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
};
