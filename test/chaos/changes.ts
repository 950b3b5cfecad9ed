import { patch, read } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { applyBackup, backedUp, claimManifest } from '../support/backups.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';
import type { Scene } from './faults.ts';
import type { ChangeKind } from './plan.ts';
import type { Restored } from './restored.ts';
import { prefix } from './workload.ts';

/** The minors that an upgrade passes through, newest last. */
export const upgradePath = ['3.5.35', '3.6.16', '3.7.3'] as const;

const restores = 'etcdrestores.etcd.improbable.io';

/** What the operator is asked for. Changes are repeated until the wanted state is reached, so a lost request does no harm. */
export class Changes {
  readonly #scene: Scene;
  #version = 0;
  #turn = 0;
  #size = 3;
  #saved: { readonly url: string; readonly revision: number } | undefined;
  /** What restored clusters had. */
  readonly restored: Restored[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get version(): string {
    return upgradePath[this.#version] ?? '';
  }

  get size(): number {
    return this.#size;
  }

  /** Creates the PVC of the backups. It is no part of the cluster. */
  async prepare(): Promise<void> {
    await this.#scene.context.kubectl('apply -f -', { input: claimManifest('etcd-backups') });
  }

  /** Requests a change. The returned function waits until it is complete; the size and the health are waited for by the run. */
  async request(kind: ChangeKind): Promise<() => Promise<void>> {
    this.#turn += 1;
    switch (kind) {
      case 'create':
        return this.#create();
      case 'none':
        return async () => {};
      case 'scale-up':
        return this.#scale(5);
      case 'scale-down':
        return this.#scale(3);
      case 'roll':
        return this.#roll();
      case 'upgrade':
        return this.#upgrade();
      case 'rotate-ca':
        return this.#rotate();
      case 'back-up':
        return this.#backUp();
      case 'restore':
        return this.#restore();
      default:
        return kind satisfies never;
    }
  }

  async #create(): Promise<() => Promise<void>> {
    const { db } = this.#scene;
    // A member on an empty volume is replaced after this time; no fault makes a member unreachable for as long.
    const extra = { TLS: { managed: {} }, replaceMemberAfterSeconds: 20 };
    await db.apply({ size: this.#size, version: this.version, durable: true, extra });
    return async () => {};
  }

  async #scale(size: number): Promise<() => Promise<void>> {
    this.#size = size;
    await this.#patch({ size });
    return async () => {};
  }

  async #roll(): Promise<() => Promise<void>> {
    const etcdEnv = [{ name: 'ETCD_MAX_TXN_OPS', value: String(200 + this.#turn) }];
    await this.#patch({ pod: { etcdEnv } });
    return async () => {};
  }

  /** After the newest version, members are restarted by another change. */
  async #upgrade(): Promise<() => Promise<void>> {
    if (this.#version === upgradePath.length - 1) return this.#roll();
    this.#version += 1;
    await this.#patch({ version: this.version });
    const { context, db } = this.#scene;
    return () => waitFor(context.kubectl, db.resource, inSeconds(300, field('.status.currentVersion', this.version)));
  }

  async #rotate(): Promise<() => Promise<void>> {
    const { context, db } = this.#scene;
    const trusted = async (): Promise<string> => {
      const { data } = await read<{ data: Readonly<Record<string, string>> }>(
        context.kubectl,
        `secret/${db.name}-client-tls`,
      );
      return data['ca.crt'] ?? '';
    };
    const old = await trusted();
    await this.#patch({ TLS: { managed: { rotate: `turn-${this.#turn}` } } });
    const isRotated = (object: object): boolean => {
      const ca = (object as { data?: Record<string, string> }).data?.['ca.crt'] ?? old;
      return ca !== old && Buffer.from(ca, 'base64').toString().split('BEGIN CERTIFICATE').length === 2;
    };
    const what = 'has the new CA only';
    return () => waitFor(context.kubectl, `secret/${db.name}-client-tls`, { what, holds: isRotated, seconds: 300 });
  }

  async #backUp(): Promise<() => Promise<void>> {
    const { context, db } = this.#scene;
    const name = `backup-${this.#turn}`;
    const store = { storageType: 'PVC', pvc: { claimName: 'etcd-backups', path: name } };
    await applyBackup(context.kubectl, name, { etcdCluster: { name: db.name }, ...store });
    return async () => {
      const { lastBackup, etcdRevision = 0 } = await backedUp(context.kubectl, name);
      this.#saved = { url: decodeURIComponent(lastBackup?.url ?? ''), revision: etcdRevision };
    };
  }

  /** Restores the last backup into another cluster, reads it, and deletes that cluster. Without a backup, one is made. */
  async #restore(): Promise<() => Promise<void>> {
    const saved = this.#saved;
    if (saved === undefined) return this.#backUp();
    const { kubectl } = this.#scene.context;
    const copy = declaredIn(improbable)(kubectl, `copy-${this.#turn}`);
    await kubectl('apply -f -', { input: restoreManifest(copy.name, saved.url, this.version) });
    return async () => {
      await waitFor(kubectl, `${restores}/${copy.name}`, inSeconds(240, field('.status.phase', 'Completed')));
      await copy.settled(1, 240);
      this.restored.push({ ...saved, state: await stateOf(copy) });
      await kubectl(`delete ${restores}/${copy.name} ${copy.resource}`);
      await waitForDeletion(kubectl, `pods -l ${copy.label}`, 120);
    };
  }

  #patch(spec: object): Promise<void> {
    const { context, db } = this.#scene;
    return patch(context.kubectl, db.resource, { spec });
  }
}

function restoreManifest(name: string, objectURL: string, version: string): string {
  const given = improbable.specOf({ size: 1, version }) as { readonly storage: object };
  const spec = { ...given, storage: { ...given.storage, volumeClaimPolicy: 'Delete' } };
  return JSON.stringify({
    ...{ apiVersion: improbable.apiVersion, kind: 'EtcdRestore', metadata: { name } },
    spec: { source: { objectURL }, clusterTemplate: { clusterName: name, spec } },
  });
}

/** The keys and values of the clients. */
const stateOf = (cluster: DeclaredCluster): Promise<Readonly<Record<string, string>>> =>
  until('the restored keys', () =>
    cluster.withMembers(async ([member]) => {
      const found = await member?.list({ key: prefix, prefix: true });
      return found && Object.fromEntries(found.map(({ key, value }) => [key, Buffer.from(value).toString()]));
    }),
  );
