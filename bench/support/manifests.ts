import { randomBytes } from 'node:crypto';
import type { MemberName } from '../../src/core/cluster/model/names.ts';
import type { Join } from '../../src/core/cluster/plan/step.ts';
import type { Blueprint, Manifest } from '../../src/core/manifests/manifest.ts';
import { memberPodManifest } from '../../src/core/manifests/pod.ts';
import { memberClaim } from '../../src/core/manifests/pvc.ts';
import { clientService, peerService } from '../../src/core/manifests/services.ts';
import { allDialects } from '../../src/operator/wiring/served.ts';
import { type ClusterSpec, manifestOf } from '../../test/support/apis.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import type { Bed } from './bed.ts';

export const newestEtcd = etcdVersions.at(-1) ?? etcdVersions[0];

/** A new name, so that DNS entries or volumes of earlier clusters do not matter. */
export const freshName = (): string => `b${randomBytes(3).toString('hex')}`;

export const asList = (documents: readonly (object | string)[]): string =>
  documents.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n---\n');

/** A cluster without an operator: the same pods, services and PVCs that the operator would create. */
export class HandMade {
  readonly name: string;
  readonly members: readonly MemberName[];
  readonly #blueprint: Blueprint;

  constructor({ namespace, api }: Pick<Bed, 'namespace' | 'api'>, name: string, spec: ClusterSpec) {
    const declared = JSON.parse(manifestOf(name, spec, api)) as { readonly metadata: object };
    const read = allDialects[api.name].read({
      ...declared,
      metadata: { ...declared.metadata, namespace, uid: 'by-hand' },
    });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    this.#blueprint = read.value.blueprint;
    this.name = name;
    this.members = Array.from({ length: spec.size }, (_, i) => `${name}-${i}` as MemberName);
  }

  all(): readonly object[] {
    const services = [peerService(this.#blueprint), clientService(this.#blueprint)].map(withoutOwner);
    return [...services, ...this.members.flatMap((member) => [...this.#claimOf(member), this.bootstrapMember(member)])];
  }

  bootstrapMember(member: MemberName): object {
    const of = { members: this.members, token: this.name };
    return this.#podOf(member, { as: 'bootstrap', of });
  }

  /** The pod and PVC of the last of these members, with an initial cluster of all of them. */
  joiningMember(members: readonly MemberName[]): object {
    const among = members.map((name) => ({ name, peerURL: this.peerURLOf(name) }));
    const last = members.at(-1) as MemberName;
    const items = [...this.#claimOf(last), this.#podOf(last, { as: 'joining', among })];
    return { apiVersion: 'v1', kind: 'List', items };
  }

  readonly peerURLOf = (member: MemberName): string => this.#blueprint.intent.peerURLOf(member);

  #podOf(name: MemberName, join: Join): object {
    const { version } = this.#blueprint.intent;
    return withoutOwner(memberPodManifest(this.#blueprint, { name, join, version }));
  }

  #claimOf(member: MemberName): readonly object[] {
    const claim = memberClaim(this.#blueprint, member, this.#blueprint.intent.version);
    return claim === undefined ? [] : [withoutOwner(claim)];
  }
}

const withoutOwner = (manifest: Manifest): object => {
  const { ownerReferences: _, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
};
