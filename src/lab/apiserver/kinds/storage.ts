import { at, copy, type Fields, fieldsOf, fill, isFields, listOf, put, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { parseQuantity } from '../quantity.ts';
import type { FieldError } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import type { Strategy } from './strategy.ts';

const defaultMark = 'storageclass.kubernetes.io/is-default-class';

function defaultClass({ store }: ServerState): string | undefined {
  return store.list('storage.k8s.io/storageclasses').find(({ metadata }) => metadata.annotations?.[defaultMark] === 'true')?.metadata.name;
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
function claimChangeErrors(claim: KubeObject, old: KubeObject, { store }: ServerState): readonly FieldError[] {
  const before = fixedPart(old);
  if (before['volumeName'] === undefined) before['volumeName'] = at(claim, 'spec', 'volumeName');
  if (before['volumeName'] === undefined) delete before['volumeName'];
  if (!same(fixedPart(claim), before))
    return [{ type: 'Forbidden', path: 'spec', says: 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims' }];
  const [asked, had] = [claim, old].map((one) => parseQuantity(String(at(one, 'spec', 'resources', 'requests', 'storage')))?.nanos ?? 0n);
  if (asked === had || asked === undefined || had === undefined) return [];
  if (asked < had)
    return [{ type: 'Forbidden', path: 'spec.resources.requests.storage', says: 'field can not be less than status.capacity' }];
  const kind = store.get({ collection: 'storage.k8s.io/storageclasses', namespace: '', name: String(at(claim, 'spec', 'storageClassName')) });
  if (kind?.['allowVolumeExpansion'] === true) return [];
  return [{ type: 'Forbidden', path: 'spec.resources.requests.storage', says: 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize' }];
}

export const volumes: Strategy = {
  prepare: (volume) => {
    if (isFields(volume['spec'])) fill(volume['spec'], { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  },
  status: () => ({ phase: 'Pending' }),
};

export const storageClasses: Strategy = {
  prepare: (kind) => fill(kind, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
};
