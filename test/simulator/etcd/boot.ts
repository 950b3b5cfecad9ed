import type { Violations } from '../world/violations.ts';
import { EtcdGroup, type GroupParts } from './group.ts';
import type { SimulatedEtcd } from './process.ts';
import { type DataDirectory, type EtcdFlags, hash64, hostIn, type MemberEntry, minorIn, patchIn } from './types.ts';

export interface BootParts extends GroupParts {
  /** All clusters that were ever bootstrapped, by their IDs. */
  readonly groups: Map<bigint, EtcdGroup>;
}

/** Why etcd exits at its start. */
export interface Refused {
  readonly refused: string;
}

interface Peer {
  readonly name: string;
  readonly url: string;
}

/** Decides as etcd does how a process starts: with its data, as a founder, by joining, or not at all. */
export function boot(process: SimulatedEtcd, parts: BootParts): Refused | undefined {
  const refused = process.data === undefined ? bootEmpty(process, parts) : bootWithData(process, process.data);
  if (refused !== undefined) return refused;
  const { data, version } = process;
  if (data === undefined) return undefined;
  checkVersions(process, data, parts.violations);
  data.group.started.add(data.memberId);
  data.lastVersion = version;
  return undefined;
}

function bootWithData({ version }: SimulatedEtcd, { group, storageMinor }: DataDirectory): Refused | undefined {
  const minor = minorIn(version);
  if (storageMinor !== undefined && minor < storageMinor)
    return { refused: `cannot open a data directory of 3.${storageMinor} with ${version}` };
  const isDowngrade = group.downgradeTarget === minor;
  if (minor < group.clusterMinor && !isDowngrade)
    return { refused: `${version} is lower than the cluster version 3.${group.clusterMinor}` };
  return undefined;
}

function bootEmpty(process: SimulatedEtcd, parts: BootParts): Refused | undefined {
  const { flags } = process.settings;
  const peers = peersIn(flags);
  const own = peers.find(({ name }) => name === flags.name);
  if (own === undefined) return { refused: `couldn't find local name "${flags.name}" in the initial cluster` };
  return flags.initialState === 'new' ? found(process, peers, parts) : join(process, peers, parts);
}

const peersIn = ({ initialCluster }: EtcdFlags): readonly Peer[] =>
  initialCluster.split(',').map((each) => {
    const [name = '', url = ''] = each.split('=');
    return { name, url };
  });

/** The running members of the initial cluster that a starting process reaches. */
const reachable = (process: SimulatedEtcd, peers: readonly Peer[], { network }: BootParts): readonly SimulatedEtcd[] =>
  peers.flatMap(({ url }) => {
    const peer = network.byHost(hostIn(url));
    return peer !== undefined && peer !== process && network.canTalk(process.node, peer.node) ? [peer] : [];
  });

/** Static bootstrap. A member that its peers list as started is refused, as long as a peer can be asked. */
function found(process: SimulatedEtcd, peers: readonly Peer[], parts: BootParts): Refused | undefined {
  const { flags, owner } = process.settings;
  const idOf = ({ url }: Peer): bigint => hash64(`${url} ${flags.token}`);
  const entries = peers.map(
    (peer): MemberEntry => ({ id: idOf(peer), name: peer.name, peerURL: peer.url, clientURLs: [], isLearner: false }),
  );
  const own = hash64(`${flags.peerURL} ${flags.token}`);
  const asked = reachable(process, peers, parts).find(({ group }) => group !== undefined);
  const known = asked?.config.find(({ id }) => id === own);
  if (known !== undefined && known.clientURLs.length > 0)
    return { refused: `member ${own.toString(16)} has already been bootstrapped` };
  const clusterId = hash64([flags.token, ...peers.map(({ url }) => url).sort()].join(' '));
  const group = parts.groups.get(clusterId) ?? new EtcdGroup(clusterId, { owner, entries }, parts);
  parts.groups.set(clusterId, group);
  if (group.hasFormed && group.started.has(own))
    parts.violations.add('I9', `${flags.name} starts as "new" on an empty volume, and had data of the formed cluster`);
  process.settings.disk.data = newData(group, own, entries.length);
  return undefined;
}

function join(process: SimulatedEtcd, peers: readonly Peer[], parts: BootParts): Refused | undefined {
  const { flags } = process.settings;
  const others = peers.filter(({ name }) => name !== flags.name);
  const asked = reachable(process, others, parts).find(({ config }) => config.length > 0);
  if (asked?.group === undefined) return { refused: 'cannot fetch cluster info from peer urls' };
  const { config, group } = asked;
  const own = config.find(({ peerURL }) => peerURL === flags.peerURL);
  if (own === undefined || !isSameList(config, peers)) return { refused: 'the initial cluster is not the member list' };
  if (minorIn(process.version) < group.clusterMinor)
    return { refused: `${process.version} is lower than the cluster version 3.${group.clusterMinor}` };
  if (group.started.has(own.id) && own.clientURLs.length > 0)
    parts.violations.add('I9', `${flags.name} joins again on an empty volume, under the ID of its lost data`);
  process.settings.disk.data = newData(group, own.id, 0);
  return undefined;
}

const isSameList = (config: readonly MemberEntry[], peers: readonly Peer[]): boolean =>
  config.length === peers.length && config.every(({ peerURL }) => peers.some(({ url }) => url === peerURL));

const newData = (group: EtcdGroup, memberId: bigint, index: number): DataDirectory => ({
  group,
  memberId,
  index,
  lastVersion: '',
  storageMinor: undefined,
});

/** No member runs a minor before every member has run the floor patch of the minor before (I12). */
function checkVersions(
  { name, version }: SimulatedEtcd,
  { group, memberId, lastVersion }: DataDirectory,
  violations: Violations,
): void {
  const minor = minorIn(version);
  const isTooNew = group.clusterMinor > 0 && minor > group.clusterMinor + 1;
  if (lastVersion !== '' && Math.abs(minor - minorIn(lastVersion)) > 1)
    violations.add('I12', `${name} goes from ${lastVersion} to ${version} at once`);
  if (isTooNew) violations.add('I12', `${name} starts ${version} in a cluster of version 3.${group.clusterMinor}`);
  const behind = group.entries.find(({ id }) => isBehind(group.lastVersions.get(id), minor));
  if (behind !== undefined)
    violations.add(
      'I12',
      `${name} starts ${version}, and ${behind.name} last ran ${group.lastVersions.get(behind.id)}`,
    );
  group.lastVersions.set(memberId, version);
}

const isBehind = (ran: string | undefined, minor: number): boolean =>
  ran !== undefined && minorIn(ran) < minor && isBelowFloor(ran);

/** The first patch of a minor from which etcd can go to the next minor (etcd upgrade guides). */
const floors: Readonly<Record<number, number>> = { 5: 32, 6: 11 };

const isBelowFloor = (version: string): boolean => patchIn(version) < (floors[minorIn(version)] ?? 0);
