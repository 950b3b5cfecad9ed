import { aMemberPod, imageOf } from '../support/worlds.ts';
import type { MemberName, MemberPod, Pod } from './types.ts';

/** A PVC without a pod. */
export const bareVolume = (name: MemberName): MemberPod => ({
  ...{ ...aMemberPod(name), uid: '', phase: 'gone', ready: false, volume: 'own', version: '' },
});

interface Surroundings {
  readonly volume: MemberPod['volume'];
  readonly data: string | undefined;
  /** The current pod template of the spec. */
  readonly template: string;
}

export function memberPodOf(pod: Pod, around: Surroundings): MemberPod {
  const { name, bootstrapForbidden, version, template, up } = pod;
  const { volume, data } = around;
  const cannotStart = bootstrapForbidden && data === undefined;
  const unreadyMillis = cannotStart ? 3_600_000 : undefined; // longer than replaceAfterSeconds
  const drift = template === around.template ? 'none' : 'pod';
  const fields = { bootstrapForbidden, version, template, drift, image: imageOf(version) } as const;
  return { ...aMemberPod(name), ...fields, ready: up && data === 'c1', volume, unreadyMillis, phase: 'running' };
}
