import { quorumOf } from '../../../src/core/quorum.ts';
import type { Endpoint } from '../../../src/etcd/endpoint.ts';
import { leases, persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import type { OperatorWrite } from '../api/kube-client.ts';
import type { SimulatedObject } from '../api/objects.ts';
import type { EtcdGroup } from '../etcd/group.ts';
import type { SimulatedEtcd } from '../etcd/process.ts';
import type { EtcdCall } from '../etcd/session.ts';
import type { MemberEntry } from '../etcd/types.ts';
import { hostIn, minorIn } from '../etcd/types.ts';
import { asPod, etcdImageOf } from '../nodes/pod-status.ts';
import type { Process } from '../world/process.ts';
import { keptDisks } from './data.ts';
import { isForeign } from './forgery.ts';
import type { World } from './world.ts';

const changes = new Set(['MemberAdd', 'MemberRemove', 'MemberPromote', 'MemberUpdate', 'MoveLeader', 'Downgrade']);

/** The operator gives a member up after 300 s, which it counts from its own first look. */
const leastSilentMillis = 240_000;

/** Checks the invariants at every write and call of the operator, when the server or member is about to do it. */
export class Oracles {
  readonly #world: World;
  /** Members that the operator has stopped, by name, until they serve again. */
  readonly #stopped = new Map<string, SimulatedEtcd | undefined>();
  /** The number of writes so far, leases aside. */
  writes = 0;
  lastWrite = '';

  constructor(world: World) {
    this.#world = world;
  }

  readonly onWrite = (write: OperatorWrite): void => {
    const { verb, resource, at } = write;
    if (resource.plural === 'leases') return;
    this.#checkLeader(write.process, `${verb} ${resource.plural} ${at.name}`);
    this.#checkNamespace(write);
    if (resource.plural === 'events') return; // a warning that stands is told again every ten minutes
    this.writes++;
    this.lastWrite = `${verb} ${resource.plural} ${at.name}`;
    const target = this.#world.api.find(resource, at);
    if (target !== undefined && verb === 'delete') this.#checkDeletion(write, target);
    if (target !== undefined && verb === 'patch') this.#checkPatch(write, target);
  };

  readonly ofEtcd = {
    onCall: (call: EtcdCall): void => this.#checkCall(call),
    onDial: (endpoint: Endpoint): void => this.#checkDial(endpoint),
  };

  /** I20: no write by a process while another holds the lease. */
  #checkLeader({ name }: Process, what: string): void {
    const lease = this.#world.api.find(leases, { namespace: 'operators', name: 'etcd-operator' });
    const { holderIdentity = '' } = (lease?.spec ?? {}) as { readonly holderIdentity?: string };
    if (holderIdentity !== '' && holderIdentity !== name)
      this.#add('I20', `${name}: ${what}, while ${holderIdentity} leads`);
  }

  /** I17: no write to a namespace without an EtcdCluster. */
  #checkNamespace({ verb, resource, at }: OperatorWrite): void {
    if (at.namespace !== 'default')
      this.#add('I17', `${verb} ${resource.plural} ${at.namespace}/${at.name}: not a namespace of a cluster`);
  }

  /** S1: no call to a pod of another namespace. */
  #checkDial({ url, dial }: Endpoint): void {
    if (!url.includes('.default.svc')) this.#add('I17', `dials ${url}`);
    if (isForeign(dial?.host)) this.#add('I17', `dials a pod of another namespace as ${url}`);
  }

  /** I7: a deletion names the object that was observed. */
  #checkDeletion({ preconditions = {}, resource }: OperatorWrite, target: SimulatedObject): void {
    const { kind, metadata } = target;
    const { uid, resourceVersion } = preconditions;
    if (uid === undefined || resourceVersion === undefined)
      return this.#add('I7', `deletes ${kind} ${metadata.name} without preconditions`);
    if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) return; // the API server refuses it
    if (resource.plural === pods.plural) this.#checkDisruption(target);
    if (resource.plural === persistentVolumeClaims.plural) this.#checkVolume(target);
  }

  /** I7: a merge patch names the object that was observed. A JSON patch has its test operation. */
  #checkPatch(write: OperatorWrite, target: SimulatedObject): void {
    const { resource, at, body } = write;
    if (resource.plural === pods.plural && this.#changesImage(write, target)) this.#checkDisruption(target);
    if (Array.isArray(body)) return;
    const { uid, resourceVersion } = (body as Partial<SimulatedObject>).metadata ?? {};
    if (uid === undefined && resourceVersion === undefined)
      this.#add('I7', `patches ${resource.plural} ${at.name} without a precondition`);
  }

  #changesImage({ body }: OperatorWrite, target: SimulatedObject): boolean {
    if (!Array.isArray(body)) return false;
    const change = (body as { path: string; value: unknown }[]).find(({ path }) => path.endsWith('/image'));
    return change !== undefined && change.value !== etcdImageOf(target);
  }

  /** I6, I11: a stopped member leaves a majority, and no other member is down by the operator. */
  #checkDisruption(pod: SimulatedObject): void {
    const member = this.#memberOn(pod);
    const healthy = member?.group.healthyVoters() ?? [];
    if (member === undefined || !healthy.includes(member.entry)) return;
    const { group, entry } = member;
    const voters = group.entries.filter(({ isLearner }) => !isLearner);
    if (healthy.length === quorumOf(voters.length) && voters.length > 2)
      this.#add('I6', `stops ${pod.metadata.name}: ${healthy.length} of ${voters.length} voters serve`);
    const others = this.#stoppedBeside(entry, group);
    if (others.length > 0) this.#add('I11', `stops ${pod.metadata.name} while ${others.join(', ')} is stopped`);
    this.#stopped.set(entry.name, group.processOf(entry));
  }

  /** The other voters that the operator has stopped and that have not served since. */
  #stoppedBeside(entry: MemberEntry, group: EtcdGroup): readonly string[] {
    for (const { name, id } of group.healthyVoters())
      if (this.#stopped.get(name) !== group.processOf({ id })) this.#stopped.delete(name);
    const listed = new Set(group.entries.filter((each) => !each.isLearner && each !== entry).map(({ name }) => name));
    return [...this.#stopped.keys()].filter((name) => listed.has(name));
  }

  /** I8: the volume of a listed member with data is kept. */
  #checkVolume(claim: SimulatedObject): void {
    const data = this.#world.volumes.diskOfClaim(claim)?.data;
    if (data === undefined || !data.group.hasFormed) return;
    const entry = data.group.entries.find(({ id }) => id === data.memberId);
    if (entry !== undefined) this.#add('I8', `deletes PVC ${claim.metadata.name} of member ${entry.name}`);
  }

  /** The member of a pod, if its volume has the data of that member. */
  #memberOn(pod: SimulatedObject): { readonly group: EtcdGroup; readonly entry: MemberEntry } | undefined {
    const data = this.#world.volumes.diskOf(pod)?.data;
    if (data === undefined || !data.group.hasFormed) return undefined;
    const host = `${asPod(pod).spec?.hostname ?? pod.metadata.name}.`;
    const entry = data.group.entries.find(
      ({ id, peerURL }) => id === data.memberId && hostIn(peerURL).startsWith(host),
    );
    return entry === undefined ? undefined : { group: data.group, entry };
  }

  #checkCall({ process, member, method, request }: EtcdCall): void {
    if (changes.has(method)) this.#checkLeader(process, `${method} at ${member.name}`);
    const { group } = member;
    if (group?.hasFormed !== true) return;
    if (method === 'MemberAdd') this.#checkAddition(group, member.version, request);
    if (method === 'MemberRemove') this.#checkRemoval(group, request);
  }

  /** I5: from 3.4 on, members are added as learners. */
  #checkAddition(group: EtcdGroup, version: string, request: object): void {
    if (Reflect.get(request, 'isLearner') !== true && minorIn(version) >= 4 && group.clusterMinor >= 4)
      this.#add('I5', 'adds a voter where a learner is possible');
  }

  /** I4: a removal leaves a majority, and takes no member with data while another has none. */
  #checkRemoval(group: EtcdGroup, request: object): void {
    const id = Reflect.get(request, 'id') as bigint;
    const victim = group.entries.find((entry) => entry.id === id);
    if (victim === undefined || victim.isLearner) return;
    const left = group.entries.filter((entry) => !entry.isLearner && entry !== victim);
    const healthy = group.healthyVoters().filter((entry) => entry !== victim);
    if (healthy.length < quorumOf(left.length))
      this.#add('I4', `removes ${victim.name}: ${healthy.length} of ${left.length} voters serve then`);
    if (left.length < this.#world.leastWantedSize()) this.#checkDeath(victim, group);
  }

  /** I6: a member with its data is given up only after it has been silent for long. */
  #checkDeath(victim: MemberEntry, group: EtcdGroup): void {
    const silentMillis = this.#world.scheduler.now - (group.heardAt.get(victim.id) ?? 0);
    const kept = keptDisks(this.#world);
    const hasData = kept.some(({ data }) => data?.group === group && data.memberId === victim.id);
    if (hasData && silentMillis < leastSilentMillis)
      this.#add('I6', `removes ${victim.name}, which has its data and served ${Math.round(silentMillis / 1000)} s ago`);
  }

  #add(invariant: string, message: string): void {
    this.#world.violations.add(invariant, message);
  }
}
