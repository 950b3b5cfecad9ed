import type { Naming } from '../../../src/core/cluster/model/template.ts';
import { isBootstrapForbidden } from '../../../src/core/manifests/initial-cluster.ts';
import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import type { SimulatedObject } from '../api/objects.ts';
import { claimOf, phaseOf } from '../nodes/volumes.ts';
import type { Random } from '../world/random.ts';
import { mayLose } from './data.ts';
import { forge } from './forgery.ts';
import type { Operators } from './operators.ts';
import type { User } from './user.ts';
import type { World } from './world.ts';

export interface DisturbedWorld {
  readonly world: World;
  readonly operators: Operators;
  readonly user: User;
  readonly random: Random;
}

type Disturbance = (on: DisturbedWorld) => string | undefined;

const namespace = 'default';

const somePod = ({ world, random }: DisturbedWorld): SimulatedObject | undefined => {
  const all = world.api.list(pods, { namespace });
  return all.length === 0 ? undefined : random.pick(all);
};

/** A pod whose loss costs no majority its data. */
function losablePod(on: DisturbedWorld): SimulatedObject | undefined {
  const pod = somePod(on);
  if (pod === undefined) return undefined;
  if (claimOf(pod) !== undefined) return pod;
  return mayLose(on.world.volumes.diskOf(pod), on.world) ? pod : undefined;
}

const someNode = ({ world, random }: DisturbedWorld): string => random.pick(world.nodes.names);

/** True if the pod may not bootstrap again. Else no operator can prevent what the kubelet does next. */
const isSealed = ({ metadata: { annotations = {} } }: SimulatedObject): boolean =>
  isBootstrapForbidden(annotations, { prefix: 'etcd.database.coreos.com' } as Naming);

/** Restores a node after a while. */
function restoreLater({ world, random }: DisturbedWorld, node: string): number {
  const millis = random.chance(0.2) ? random.between(200_000, 500_000) : random.between(1_000, 60_000);
  world.scheduler.afterInert(millis, () => world.nodes.restore(node));
  return millis;
}

/** True if a majority of the nodes stays up. One silent node at a time leaves each cluster its quorum, mostly. */
const nodesAreUp = ({ world }: DisturbedWorld): boolean =>
  world.nodes.names.every((node) => !world.nodes.isSilent(node));

/** All that can happen to a cluster from outside, with the reason shown in the trace. */
export const disturbances: Readonly<Record<string, Disturbance>> = {
  'delete pod': (on) => {
    const pod = losablePod(on);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
    on.world.api.remove(pods, pod.metadata);
    return pod.metadata.name;
  },
  'delete pod by force': (on) => {
    const pod = losablePod(on);
    if (pod === undefined) return undefined;
    on.world.api.remove(pods, pod.metadata, { gracePeriodSeconds: 0 });
    return pod.metadata.name;
  },
  'evict pod': (on) => {
    const pod = losablePod(on);
    if (pod === undefined) return undefined;
    on.world.nodes.runnerOf(pod)?.end();
    on.world.volumes.drop(pod);
    on.world.api.setStatus(pods, pod.metadata, {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'the node was low on memory',
    });
    return pod.metadata.name;
  },
  'crash container': (on) => {
    const pod = somePod(on);
    if (pod === undefined) return undefined;
    on.world.nodes.runnerOf(pod)?.crash(137, 'killed');
    return pod.metadata.name;
  },
  'slow member': (on) => {
    const pod = somePod(on);
    const process = pod === undefined ? undefined : on.world.nodes.runnerOf(pod)?.process;
    if (process === undefined) return undefined;
    process.slowMillis = on.random.between(100, 5_000);
    return process.name;
  },
  'stop node': (on) => {
    if (!nodesAreUp(on)) return undefined;
    const node = someNode(on);
    on.world.nodes.stop(node);
    return `${node} for ${Math.round(restoreLater(on, node) / 1000)} s`;
  },
  'cut node': (on) => {
    if (!nodesAreUp(on)) return undefined;
    const node = someNode(on);
    on.world.nodes.cut(node);
    return `${node} for ${Math.round(restoreLater(on, node) / 1000)} s`;
  },
  'mute kubelet': (on) => {
    if (!nodesAreUp(on)) return undefined;
    const node = someNode(on);
    on.world.nodes.mute(node);
    return `${node} for ${Math.round(restoreLater(on, node) / 1000)} s`;
  },
  'forge pod': (on) => {
    const pod = somePod(on);
    return pod === undefined ? undefined : forge(pod, on.world);
  },
  'cut link': (on) => {
    const [a, b] = [someNode(on), on.random.chance(0.3) ? 'operator' : someNode(on)];
    on.world.network.cutBetween(a, b);
    on.world.scheduler.afterInert(on.random.between(1_000, 90_000), () => on.world.network.healBetween(a, b));
    return `${a} and ${b}`;
  },
  'empty volume': (on) => {
    const pod = somePod(on);
    const disk = pod === undefined ? undefined : on.world.volumes.diskOf(pod);
    if (pod === undefined || disk?.data === undefined || !isSealed(pod) || !mayLose(disk, on.world)) return undefined;
    disk.data = undefined;
    on.world.nodes.runnerOf(pod)?.crash(2, 'the data directory is gone');
    return pod.metadata.name;
  },
  'lose volume': (on) => {
    const claims = on.world.api
      .list(persistentVolumeClaims, { namespace })
      .filter((claim) => phaseOf(claim) === 'Bound');
    const claim = claims.length === 0 ? undefined : on.random.pick(claims);
    if (claim === undefined || !mayLose(on.world.volumes.diskOfClaim(claim), on.world)) return undefined;
    on.world.volumes.lose(claim);
    for (const runner of on.world.nodes.runners)
      if (runner.pod !== undefined && claimOf(runner.pod) === claim.metadata.name) runner.crash(2, 'I/O error');
    return claim.metadata.name;
  },
  'delete PVC': (on) => {
    const claims = on.world.api.list(persistentVolumeClaims, { namespace });
    const claim = claims.length === 0 ? undefined : on.random.pick(claims);
    if (claim === undefined || !mayLose(on.world.volumes.diskOfClaim(claim), on.world)) return undefined;
    on.world.api.remove(persistentVolumeClaims, claim.metadata);
    return claim.metadata.name;
  },
  'kill operator': ({ operators, random }) => {
    const [process] = operators.running;
    if (process === undefined) return undefined;
    const away = random.chance(0.3);
    operators.isDown = away;
    operators.crash(process);
    return process.name;
  },
  'return operator': ({ operators }) => {
    operators.isDown = false;
    operators.replace();
    return undefined;
  },
  'second operator': ({ operators }) => {
    if (operators.running.length > 1 || operators.isDown) return undefined;
    operators.start();
    return 'beside the first';
  },
  'suspend operator': ({ operators, random }) => {
    if (operators.running.length === 0) return undefined;
    const process = random.pick(operators.running);
    const [millis, withMachine] = [random.between(500, 60_000), random.chance(0.3)];
    process.suspend(millis, { withMachine });
    return `${process.name} for ${Math.round(millis / 1000)} s${withMachine ? ', with its machine' : ''}`;
  },
  'jump of the clock': ({ operators, random }) => {
    if (operators.running.length === 0) return undefined;
    const process = random.pick(operators.running);
    const millis = random.between(-600_000, 600_000);
    process.jump(millis);
    return `${process.name} by ${Math.round(millis / 1000)} s`;
  },
  'edit size': ({ user }) => user.resize(),
  'edit version': ({ user }) => user.upgrade(),
  'edit template': ({ user }) => user.changeTemplate(),
  'pause or resume': ({ user }) => user.togglePause(),
};
