import { randomBytes } from 'node:crypto';
import { memberClaim } from '../../src/core/desired/claim.ts';
import type { Blueprint, Manifest } from '../../src/core/desired/manifest.ts';
import { memberPod } from '../../src/core/desired/pod.ts';
import { clientService, peerService } from '../../src/core/desired/services.ts';
import type { CarrierName } from '../../src/core/model/names.ts';
import type { Join } from '../../src/core/plan/cluster/step.ts';
import { allDialects } from '../../src/main/served.ts';
import { type ClusterSpec, manifestOf } from '../../test/support/apis.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import type { Bed } from './bed.ts';

export const newestEtcd = etcdVersions.at(-1) ?? etcdVersions[0];

/** A name that no cluster had before: what an earlier one left in DNS or on a disk must not matter. */
export const freshName = (): string => `b${randomBytes(3).toString('hex')}`;

export const asList = (documents: readonly (object | string)[]): string =>
  documents.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n---\n');

/** A cluster as somebody makes it who has no operator: the very pods, services and disks that ours would make. */
export class HandMade {
  readonly name: string;
  readonly members: readonly CarrierName[];
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
    this.members = Array.from({ length: spec.size }, (_, i) => `${name}-${i}` as CarrierName);
  }

  all(): readonly object[] {
    const services = [peerService(this.#blueprint), clientService(this.#blueprint)].map(withoutOwner);
    return [...services, ...this.members.flatMap((member) => [...this.#claimOf(member), this.founder(member)])];
  }

  founder(member: CarrierName): object {
    const of = { members: this.members, token: this.name };
    return this.#podOf(member, { as: 'founder', of });
  }

  /** The pod, and the disk where it has one, of the last of these members, who is told of all of them. */
  newcomer(members: readonly CarrierName[]): object {
    const among = members.map((name) => ({ name, peerURL: this.peerURLOf(name) }));
    const last = members.at(-1) as CarrierName;
    const items = [...this.#claimOf(last), this.#podOf(last, { as: 'newcomer', among })];
    return { apiVersion: 'v1', kind: 'List', items };
  }

  readonly peerURLOf = (member: CarrierName): string => this.#blueprint.intent.peerURLOf(member);

  #podOf(name: CarrierName, join: Join): object {
    const { version } = this.#blueprint.intent;
    return withoutOwner(memberPod(this.#blueprint, { name, join, version }));
  }

  #claimOf(member: CarrierName): readonly object[] {
    const claim = memberClaim(this.#blueprint, member, this.#blueprint.intent.version);
    return claim === undefined ? [] : [withoutOwner(claim)];
  }
}

const withoutOwner = (manifest: Manifest): object => {
  const { ownerReferences: _, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
};
