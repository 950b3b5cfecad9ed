import { at, type Fields, fieldsIn, fieldsOf, fill, isFields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ServerState } from '../state.ts';
import type { FieldError } from '../status-error.ts';
import { isLabel } from './names.ts';
import type { Strategy } from './strategy.ts';

const prefix = '10.96.';
const lastSuffix = 65_534;

const isAllocated = ({ clusterIP, type }: Fields): boolean => clusterIP !== 'None' && type !== 'ExternalName';

/** The first free cluster IP. Suffix 1 is the API server's own. */
function freeAddress({ store }: ServerState): string {
  const taken = new Set(store.list('/services').map((service) => at(service, 'spec', 'clusterIP')));
  for (let suffix = 2; suffix < lastSuffix; suffix += 1) {
    const address = `${prefix}${suffix >> 8}.${suffix & 255}`;
    if (!taken.has(address)) return address;
  }
  throw new Error('no cluster IP is left for a Service');
}

function complete(service: KubeObject, state: ServerState): void {
  if (!isFields(service['spec'])) service['spec'] = {};
  const spec = fieldsOf(service['spec']);
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
  for (const port of fieldsIn(spec['ports'])) fill(port, { protocol: 'TCP', targetPort: port['port'] });
  if (spec['type'] === 'ExternalName') return;
  if (isAllocated(spec) && !spec['clusterIP']) spec['clusterIP'] = freeAddress(state);
  fill(spec, {
    clusterIPs: [spec['clusterIP']],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
  });
}

function serviceErrors(service: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const spec = fieldsOf(service['spec']);
  const before = fieldsOf(old?.['spec']);
  const missing = missingIn(spec);
  if (missing !== undefined) return [{ type: 'Required', path: `spec.${missing}`, detail: '' }];
  if (before['clusterIP'] && before['type'] !== 'ExternalName' && before['clusterIP'] !== spec['clusterIP'])
    return [
      { type: 'Invalid', path: 'spec.clusterIPs[0]', value: [spec['clusterIP']], detail: 'may not change once set' },
    ];
  return portErrors(spec);
}

function missingIn({ type, externalName, clusterIP, ports }: Fields): string | undefined {
  if (type === 'ExternalName') return externalName ? undefined : 'externalName';
  return clusterIP === 'None' || fieldsIn(ports).length > 0 ? undefined : 'ports';
}

const portErrors = (spec: Fields): readonly FieldError[] =>
  fieldsIn(spec['ports']).flatMap(({ port, name }, index): FieldError[] => {
    const path = `spec.ports[${index}]`;
    if (typeof port !== 'number' || port < 1 || port > 65_535)
      return [
        { type: 'Invalid', path: `${path}.port`, value: port ?? 0, detail: 'must be between 1 and 65535, inclusive' },
      ];
    return fieldsIn(spec['ports']).length > 1 && !name ? [{ type: 'Required', path: `${path}.name`, detail: '' }] : [];
  });

export const services: Strategy = {
  checkName: isLabel,
  prepare: complete,
  prepareUpdate: (service, old, state) => {
    const spec = fieldsOf(service['spec']);
    const { clusterIP, clusterIPs } = fieldsOf(old['spec']);
    if (!spec['clusterIP'] && spec['type'] !== 'ExternalName') Object.assign(spec, { clusterIP, clusterIPs });
    complete(service, state);
  },
  status: () => ({ loadBalancer: {} }),
  validate: serviceErrors,
};
