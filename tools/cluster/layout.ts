import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { cacheDirectory } from '../lib/cache.ts';
import { UserError } from '../lib/main.ts';

export interface Node {
  readonly name: string;
  readonly address: string;
  readonly podSubnet: string;
  readonly podGateway: string;
}

/** Addresses, names and directories of a test cluster, derived from its name. Two clusters share nothing. */
export interface Layout {
  readonly name: string;
  /** The state directory; removed with the cluster. */
  readonly state: string;
  readonly kubeconfig: string;
  readonly auditLog: string;
  /** The host's network interface of the cluster, and the name of its cgroup. */
  readonly link: string;
  readonly hostAddress: string;
  readonly controlPlane: string;
  readonly subnet: string;
  readonly podSubnet: string;
  readonly serviceSubnet: string;
  readonly apiServiceAddress: string;
  readonly registry: string;
  readonly nodes: readonly Node[];
}

export const nodeCount = 3;
export const apiPort = 6443;

/**
 *   10.250.<i>.0/24          .1 the control plane (API, DNS, registry), .11 … nodes, .254 this machine
 *   10.251.<16i + n>.0/24    pods of node n
 *   10.252.<16i>.0/20        services
 */
export function layoutOf(name: string): Layout {
  if (!/^[a-z][a-z0-9-]{0,11}$/.test(name)) {
    throw new UserError(
      `"${name}" cannot be a cluster's name: use up to 12 lower-case letters, digits and dashes, starting with a letter.`,
    );
  }
  const index = indexOf(name);
  const state = join(cacheDirectory(), 'clusters', name);
  const network = `10.250.${index}`;
  return {
    name,
    state,
    kubeconfig: join(state, 'kubeconfig'),
    auditLog: join(state, 'control-plane', 'var', 'log', 'audit.log'),
    link: `eo-${name}`,
    hostAddress: `${network}.254`,
    controlPlane: `${network}.1`,
    subnet: `${network}.0/24`,
    podSubnet: `10.251.${index * 16}.0/20`,
    serviceSubnet: `10.252.${index * 16}.0/20`,
    apiServiceAddress: `10.252.${index * 16}.1`,
    registry: `${network}.1:5000`,
    nodes: Array.from({ length: nodeCount }, (_, i) => nodeOf(index, i + 1)),
  };
}

function nodeOf(index: number, number: number): Node {
  const pods = `10.251.${index * 16 + number}`;
  return {
    name: `node${number}`,
    address: `10.250.${index}.${10 + number}`,
    podSubnet: `${pods}.0/24`,
    podGateway: `${pods}.1`,
  };
}

/** The two clusters that `make` starts have fixed indexes; any other name is hashed to one of the rest. */
function indexOf(name: string): number {
  const fixed = ['dev', 'check'].indexOf(name);
  return fixed >= 0 ? fixed : 2 + (createHash('sha256').update(name).digest().readUInt16BE(0) % 14);
}
