import { setTimeout as sleep } from 'node:timers/promises';
import { manifestOf } from '../../test/support/cluster.ts';
import type { Bed } from './bed.ts';
import { asList, newestEtcd } from './manifests.ts';

/** What each of a benchmark's clusters is, whoever makes it. */
export const threeMembers = { size: 3, version: newestEtcd } as const;
export const threeWithDisks = { ...threeMembers, durable: true } as const;

/** Removes what was applied, and waits until its pods are gone: the next measurement has the machine to itself. */
export async function cleanUp({ kubectl }: Bed, clusters: readonly string[], documents: readonly (object | string)[]) {
  await kubectl('delete -f - --now --wait=true', { input: asList(documents) });
  await kubectl(`wait pods -l 'etcd_cluster in (${clusters.join(',')})' --for=delete --timeout=120s`);
}

export async function settled({ kubectl }: Bed, cluster: string, size: number): Promise<void> {
  await kubectl(`wait etcdcluster/${cluster} --for=jsonpath={.status.readyMembers}=${size} --timeout=120s`);
  await kubectl(`wait etcdcluster/${cluster} --for=condition=Progressing=False --timeout=120s`);
}

export const resource = (name: string, spec: Parameters<typeof manifestOf>[1] = threeMembers): string =>
  manifestOf(name, spec);

/** etcd refuses to grow until all have been connected for five seconds: no part of what is measured. */
export const untilEtcdLetsItGrow = (): Promise<void> => sleep(6_000);
