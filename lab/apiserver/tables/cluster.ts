import { at, type Fields, fieldsIn, fieldsOf, listOf, numberOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ageOf } from './duration.ts';

const age = ({ metadata }: KubeObject): string => ageOf(metadata.creationTimestamp);
const text = (object: KubeObject, ...path: readonly string[]): string => textOf(at(object, ...path));
const orNone = (value: string): string => value || '<none>';

export function nodeCells(node: KubeObject): readonly unknown[] {
  const info = fieldsOf(at(node, 'status', 'nodeInfo'));
  const addressOf = (type: string): string =>
    orNone(textOf(fieldsIn(at(node, 'status', 'addresses')).find((one) => one['type'] === type)?.['address']));
  const unknown = (value: unknown): string => textOf(value) || '<unknown>';
  return [
    node.metadata.name,
    nodeStatus(node),
    rolesOf(node),
    age(node),
    textOf(info['kubeletVersion']),
    addressOf('InternalIP'),
    addressOf('ExternalIP'),
    unknown(info['osImage']),
    unknown(info['kernelVersion']),
    unknown(info['containerRuntimeVersion']),
  ];
}

function nodeStatus(node: KubeObject): string {
  const ready = fieldsIn(at(node, 'status', 'conditions')).find(({ type }) => type === 'Ready');
  const cordoned = at(node, 'spec', 'unschedulable') === true ? ',SchedulingDisabled' : '';
  if (ready === undefined) return `Unknown${cordoned}`;
  return `${ready['status'] === 'True' ? '' : 'Not'}Ready${cordoned}`;
}

const rolePrefix = 'node-role.kubernetes.io/';
const rolesOf = ({ metadata }: KubeObject): string =>
  orNone(
    Object.keys(metadata.labels ?? {})
      .filter((label) => label.startsWith(rolePrefix))
      .map((label) => label.slice(rolePrefix.length))
      .sort()
      .join(','),
  );

export function serviceCells(service: KubeObject): readonly unknown[] {
  const spec = fieldsOf(service['spec']);
  const ports = fieldsIn(spec['ports']).map(({ port, nodePort, protocol }) => {
    const node = numberOf(nodePort) > 0 ? `:${numberOf(nodePort)}` : '';
    return `${numberOf(port)}${node}/${textOf(protocol)}`;
  });
  const selector = Object.entries(fieldsOf(spec['selector'])).map(([key, value]) => `${key}=${textOf(value)}`);
  return [
    service.metadata.name,
    textOf(spec['type']),
    orNone(textOf(spec['clusterIP'])),
    externalOf(spec),
    orNone(ports.join(',')),
    age(service),
    orNone(selector.sort().join(',')),
  ];
}

function externalOf(spec: Fields): string {
  const addresses = listOf(spec['externalIPs']).join(',');
  if (spec['type'] === 'ExternalName') return textOf(spec['externalName']);
  return addresses || (spec['type'] === 'LoadBalancer' ? '<pending>' : '<none>');
}

const shownAddresses = 3;

export function endpointsCells(endpoints: KubeObject): readonly unknown[] {
  const all = fieldsIn(endpoints['subsets']).flatMap(({ addresses, ports }) =>
    fieldsIn(addresses).flatMap(({ ip }) =>
      ports === undefined ? [textOf(ip)] : fieldsIn(ports).map(({ port }) => `${textOf(ip)}:${numberOf(port)}`),
    ),
  );
  return [endpoints.metadata.name, someOf(all), age(endpoints)];
}

const someOf = (all: readonly string[]): string =>
  orNone(all.slice(0, shownAddresses).join(',')) +
  (all.length > shownAddresses ? ` + ${all.length - shownAddresses} more...` : '');

export function endpointSliceCells(slice: KubeObject): readonly unknown[] {
  const ports = fieldsIn(slice['ports']).map(({ port }) => String(numberOf(port)));
  const addresses = fieldsIn(slice['endpoints']).flatMap((one) => listOf(one['addresses']).map(String));
  const shown = (all: readonly string[]): string => (all.length === 0 ? '<unset>' : someOf(all));
  return [slice.metadata.name, text(slice, 'addressType'), shown(ports), shown(addresses), age(slice)];
}

const modes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const modesOf = (value: unknown): string =>
  listOf(value)
    .map((mode) => modes[String(mode)] ?? '')
    .join(',');

export function claimCells(claim: KubeObject): readonly unknown[] {
  const isGoing = claim.metadata.deletionTimestamp !== undefined;
  return [
    claim.metadata.name,
    isGoing ? 'Terminating' : text(claim, 'status', 'phase'),
    text(claim, 'spec', 'volumeName'),
    text(claim, 'status', 'capacity', 'storage'),
    modesOf(at(claim, 'status', 'accessModes')),
    text(claim, 'spec', 'storageClassName'),
    text(claim, 'spec', 'volumeAttributesClassName') || '<unset>',
    age(claim),
    text(claim, 'spec', 'volumeMode') || '<unset>',
  ];
}

export function volumeCells(volume: KubeObject): readonly unknown[] {
  const claim = fieldsOf(at(volume, 'spec', 'claimRef'));
  const isGoing = volume.metadata.deletionTimestamp !== undefined;
  return [
    volume.metadata.name,
    text(volume, 'spec', 'capacity', 'storage'),
    modesOf(at(volume, 'spec', 'accessModes')),
    text(volume, 'spec', 'persistentVolumeReclaimPolicy'),
    isGoing ? 'Terminating' : text(volume, 'status', 'phase'),
    claim['name'] === undefined ? '' : `${textOf(claim['namespace'])}/${textOf(claim['name'])}`,
    text(volume, 'spec', 'storageClassName'),
    text(volume, 'spec', 'volumeAttributesClassName') || '<unset>',
    text(volume, 'status', 'reason'),
    age(volume),
    text(volume, 'spec', 'volumeMode') || '<unset>',
  ];
}

export function storageClassCells(kind: KubeObject): readonly unknown[] {
  const isDefault = kind.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
  return [
    `${kind.metadata.name}${isDefault ? ' (default)' : ''}`,
    text(kind, 'provisioner'),
    text(kind, 'reclaimPolicy') || 'Delete',
    text(kind, 'volumeBindingMode') || 'Immediate',
    kind['allowVolumeExpansion'] === true,
    age(kind),
  ];
}
