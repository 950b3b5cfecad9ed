import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterSpec, manifestOf } from '../../test/support/apis.ts';
import type { Bed } from './bed.ts';
import { asList, newestEtcd } from './manifests.ts';

/** What each of a benchmark's clusters is, whoever makes it. */
export const threeMembers = { size: 3, version: newestEtcd } as const;
export const threeWithDisks = { ...threeMembers, durable: true } as const;

/** Removes what was applied, and waits until its pods are gone: the next measurement has the machine to itself. */
export async function cleanUp(
  { kubectl, api }: Bed,
  clusters: readonly string[],
  documents: readonly (object | string)[],
) {
  await kubectl('delete -f - --now --wait=true', { input: asList(documents) });
  await kubectl(`wait pods -l '${api.label} in (${clusters.join(',')})' --for=delete --timeout=120s`);
}

export async function settled({ kubectl, api }: Bed, cluster: string, size: number): Promise<void> {
  await kubectl(`wait ${api.resource}/${cluster} --for=jsonpath={.status.${api.status.ready}}=${size} --timeout=120s`);
  await kubectl(`wait ${api.resource}/${cluster} --for=condition=Progressing=False --timeout=120s`);
}

export const resource = ({ api }: Pick<Bed, 'api'>, name: string, spec: ClusterSpec = threeMembers): string =>
  manifestOf(name, { ...spec, extra: { ...spec.extra, ...goesWithIt[api.name] } }, api);

const volumeClaimTemplate = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };

/** So that nothing of one measurement is there in the next. */
const goesWithIt = { coreos: {}, improbable: { storage: { volumeClaimTemplate, volumeClaimPolicy: 'Delete' } } };

/** etcd refuses to grow until all have been connected for five seconds: no part of what is measured. */
export const untilEtcdLetsItGrow = (): Promise<void> => sleep(6_000);
