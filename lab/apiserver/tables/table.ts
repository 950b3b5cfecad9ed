import columnsByResource from '../gen/columns.json' with { type: 'json' };
import { isFields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Column, ResourceType } from '../types/resource-type.ts';
import * as cluster from './cluster.ts';
import { ageOf } from './duration.ts';
import { valuesAt } from './json-path.ts';
import * as others from './others.ts';
import { podCells } from './pods.ts';
import * as workloads from './workloads.ts';

type Cells = (object: KubeObject) => readonly unknown[];

/** The cells of built-in kinds. The column definitions come from a real API server. */
const cellsOf: Readonly<Record<string, Cells>> = {
  pods: podCells,
  nodes: cluster.nodeCells,
  services: cluster.serviceCells,
  endpoints: cluster.endpointsCells,
  persistentvolumes: cluster.volumeCells,
  persistentvolumeclaims: cluster.claimCells,
  'endpointslices.discovery.k8s.io': cluster.endpointSliceCells,
  'storageclasses.storage.k8s.io': cluster.storageClassCells,
  namespaces: others.namespaceCells,
  configmaps: others.configMapCells,
  secrets: others.secretCells,
  events: others.eventCells,
  'events.events.k8s.io': others.eventCells,
  'leases.coordination.k8s.io': others.leaseCells,
  'poddisruptionbudgets.policy': others.budgetCells,
  'roles.rbac.authorization.k8s.io': others.nameAndTimeCells,
  'clusterroles.rbac.authorization.k8s.io': others.nameAndTimeCells,
  'rolebindings.rbac.authorization.k8s.io': others.bindingCells,
  'clusterrolebindings.rbac.authorization.k8s.io': others.bindingCells,
  'priorityclasses.scheduling.k8s.io': others.priorityCells,
  'customresourcedefinitions.apiextensions.k8s.io': others.nameAndTimeCells,
  'deployments.apps': workloads.deploymentCells,
  'replicasets.apps': workloads.replicaSetCells,
  'jobs.batch': workloads.jobCells,
};

const builtInColumns = columnsByResource as unknown as Readonly<
  Record<string, readonly (readonly [string, string, string, number])[]>
>;
const plainColumns: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Age', type: 'string', format: '', priority: 0 },
];

const nameOf = ({ group, plural }: ResourceType): string => (group === '' ? plural : `${plural}.${group}`);

export function columnsOf(type: ResourceType): readonly Column[] {
  if (type.custom !== undefined) return [...plainColumns.slice(0, 1), ...type.custom.columns];
  return (
    builtInColumns[nameOf(type)]?.map(([name, columnType, format, priority]) => ({
      name,
      type: columnType,
      format,
      priority,
    })) ?? plainColumns
  );
}

export function cellsIn(type: ResourceType, object: KubeObject): readonly unknown[] {
  if (type.custom === undefined) return (cellsOf[nameOf(type)] ?? others.plainCells)(object);
  return [object.metadata.name, ...type.custom.columns.map((column) => customCell(column, object))];
}

function customCell({ jsonPath = '', type }: Column, object: KubeObject): unknown {
  const [value] = valuesAt(jsonPath, object);
  if (value === undefined || value === null) return null;
  if (type === 'date') return ageOf(value);
  if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  return isFields(value) ? JSON.stringify(value) : value;
}
