import { nanosOf } from '../../../src/std/quantity.ts';
import { at, copy, type Fields, fieldsOf, fill, isFields, listOf, put, same, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import { type FieldError, forbidden } from '../status-error.ts';
import type { Strategy } from './strategy.ts';

const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class';

function defaultClass({ store }: ServerState): string | undefined {
  return store
    .list('storage.k8s.io/storageclasses')
    .find(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true')?.metadata.name;
}

/** Adds a protection finalizer. Its controller removes it once the object is unused. */
function protect({ metadata }: KubeObject, finalizer: string): void {
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), finalizer])];
}

export const claims: Strategy = {
  prepare: (claim, state) => {
    protect(claim, 'kubernetes.io/pvc-protection');
    if (!isFields(claim['spec'])) claim['spec'] = {};
    const spec = fieldsOf(claim['spec']);
    const name = defaultClass(state);
    fill(spec, { volumeMode: 'Filesystem', ...(name !== undefined && { storageClassName: name }) });
  },
  status: () => ({ phase: 'Pending' }),
  validate: (claim, old) => (old === undefined ? newClaimErrors(claim) : claimChangeErrors(claim, old)),
  admitChange: admitExpansion,
};

function newClaimErrors(claim: KubeObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (listOf(at(claim, 'spec', 'accessModes')).length === 0)
    errors.push({ type: 'Required', path: 'spec.accessModes', detail: 'at least 1 access mode is required' });
  if (at(claim, 'spec', 'resources', 'requests', 'storage') === undefined)
    errors.push({ type: 'Required', path: 'spec.resources[storage]', detail: '' });
  return errors;
}

const storage = ['resources', 'requests', 'storage'] as const;

/** The immutable part of a PVC: once bound, everything but its size and volume attributes class. */
const fixedPart = (claim: KubeObject): Fields => {
  const spec = copy(fieldsOf(claim['spec']));
  if (!isBound(claim)) return spec;
  put(spec, storage, undefined);
  put(spec, ['volumeAttributesClassName'], undefined);
  return spec;
};

/** A PVC can be bound and expanded. An expansion that has not happened can be taken back. */
function claimChangeErrors(claim: KubeObject, old: KubeObject): readonly FieldError[] {
  const before = fixedPart({ ...old, status: claim['status'] });
  before['volumeName'] ??= at(claim, 'spec', 'volumeName');
  if (before['volumeName'] === undefined) delete before['volumeName'];
  const errors: FieldError[] = [];
  if (!same(fixedPart(claim), before)) errors.push({ type: 'Forbidden', path: 'spec', detail: immutable });
  const size = sizeOf(claim);
  if (size < sizeOf(old) && size <= nanosOf(at(old, 'status', 'capacity', 'storage')))
    errors.push({ type: 'Forbidden', path: `spec.${storage.join('.')}`, detail: tooSmall });
  return errors;
}

const immutable =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
const tooSmall = 'field can not be less than status.capacity';
const notExpandable =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

const isBound = (claim: KubeObject): boolean => at(claim, 'status', 'phase') === 'Bound';

const sizeOf = (claim: KubeObject): bigint => nanosOf(at(claim, 'spec', ...storage));

function admitExpansion(claim: KubeObject, old: KubeObject, { store }: ServerState): void {
  if (sizeOf(claim) <= sizeOf(old)) return;
  const name = textOf(at(claim, 'spec', 'storageClassName'));
  const kind = store.get({ collection: 'storage.k8s.io/storageclasses', namespace: '', name });
  if (kind?.['allowVolumeExpansion'] !== true)
    throw forbidden({ group: '', plural: 'persistentvolumeclaims', name: claim.metadata.name }, notExpandable);
}

export const volumes: Strategy = {
  prepare: (volume) => {
    protect(volume, 'kubernetes.io/pv-protection');
    if (isFields(volume['spec']))
      fill(volume['spec'], { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  },
  status: () => ({ phase: 'Pending' }),
};

export const storageClasses: Strategy = {
  prepare: (kind) => fill(kind, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
};
