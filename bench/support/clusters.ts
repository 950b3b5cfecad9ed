import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterSpec, manifestOf } from '../../test/support/apis.ts';
import type { Bed } from './bed.ts';
import { asList, newestEtcd } from './manifests.ts';

/** The spec of every benchmark cluster, by operator or by hand. */
export const threeMembers = { size: 3, version: newestEtcd } as const;
export const threeWithVolumes = { ...threeMembers, durable: true } as const;

/** Deletes the applied objects and waits until the pods are gone, so that the next measurement is undisturbed. */
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
  manifestOf(name, { ...spec, extra: { ...spec.extra, ...temporaryStorage[api.name] } }, api);

const volumeClaimTemplate = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } };

/** Storage that is deleted with the cluster, so that measurements share no data. */
const temporaryStorage = { coreos: {}, improbable: { storage: { volumeClaimTemplate, volumeClaimPolicy: 'Delete' } } };

/** etcd refuses new members until all have been connected for five seconds. This wait is not measured. */
export const waitUntilMembersCanBeAdded = (): Promise<void> => sleep(6_000);
