import { aCarrier, imageOf } from '../support/worlds.ts';
import type { Carrier, CarrierName, Pod } from './words.ts';

/** A disk that has no pod at the moment. */
export const bareDisk = (name: CarrierName): Carrier => ({
  ...{ ...aCarrier(name), uid: '', phase: 'gone', ready: false, disk: 'own', version: '' },
});

interface Around {
  readonly disk: Carrier['disk'];
  readonly data: string | undefined;
  /** What the spec says of pods by now. */
  readonly template: string;
}

export function carrierOf(pod: Pod, around: Around): Carrier {
  const { name, sealed, version, template, up } = pod;
  const { disk, data } = around;
  const refuses = sealed && data === undefined;
  const unreadyMillis = refuses ? 3_600_000 : undefined; // it has been failing for longer than replaceAfterSeconds
  const drift = template === around.template ? 'none' : 'pod';
  const body = { sealed, version, template, drift, image: imageOf(version) } as const;
  return { ...aCarrier(name), ...body, ready: up && data === 'c1', disk, unreadyMillis, phase: 'running' };
}
