import type { Random } from '../world/random.ts';
import type { World } from './world.ts';
import { clusters } from './world.ts';

export interface WantedCluster {
  readonly size: number;
  readonly version: string;
  readonly paused?: boolean;
  readonly pod?: Readonly<Record<string, unknown>>;
}

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const at = { namespace: 'default', name: 'db' };

/** Versions of a path of upgrades, with patches below the floors. */
const versions = ['3.4.37', '3.5.21', '3.5.35', '3.6.5', '3.6.16', '3.7.3'];

/** The user of one EtcdCluster. */
export class User {
  readonly #world: World;
  readonly #random: Random;
  #edits = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  get spec(): WantedCluster {
    return this.#world.api.get(clusters, at).spec as WantedCluster;
  }

  create(): void {
    const random = this.#random;
    const size = random.pick([1, 2, 3, 3, 3, 3, 4, 5]);
    const version = random.pick(versions.slice(0, 5));
    const isDurable = random.chance(0.65);
    const spec = { size, version, ...(isDurable ? { pod: { persistentVolumeClaimSpec: claim } } : {}) };
    const { group, kind } = clusters;
    this.#world.api.create(clusters, { apiVersion: `${group}/${clusters.version}`, kind, metadata: at, spec } as never);
    this.#world.noteSize(size);
    this.#world.trace.add('user', () => `creates ${JSON.stringify(spec)}`);
  }

  resize(): string | undefined {
    const size = this.#random.pick([1, 2, 3, 3, 3, 4, 5]);
    if (size === this.spec.size) return undefined;
    this.#world.noteSize(size);
    return this.#edit({ size });
  }

  upgrade(): string | undefined {
    const next = versions.indexOf(this.spec.version) + this.#random.whole(1, 3);
    const version = versions[Math.min(next, versions.length - 1)];
    return version === undefined || version === this.spec.version ? undefined : this.#edit({ version });
  }

  changeTemplate(): string {
    const etcdEnv = [{ name: 'ETCD_MAX_TXN_OPS', value: String(200 + ++this.#edits) }];
    return this.#edit({ pod: { ...this.spec.pod, etcdEnv } });
  }

  togglePause(): string {
    return this.#edit({ paused: this.spec.paused !== true });
  }

  resume(): void {
    if (this.spec.paused === true) this.#edit({ paused: false });
  }

  #edit(change: Partial<WantedCluster>): string {
    this.#world.api.change(clusters, at, (object) => ({ ...object, spec: { ...Object(object.spec), ...change } }));
    return JSON.stringify(change);
  }
}
