import { create, toBinary } from '@bufbuild/protobuf';
import {
  type Member,
  MemberListResponseSchema,
  MemberSchema,
  RangeResponseSchema,
  type ResponseHeader,
  ResponseHeaderSchema,
  StatusResponseSchema,
} from '../../src/etcd/gen/etcd_pb.ts';

/** A member of a stand-in cluster. It has no name until its pod runs for the first time. */
interface StandInMember {
  readonly id: bigint;
  readonly peerURL: string;
  name: string;
  isLearner: boolean;
  version: string;
  isRunning: boolean;
}

let lastId = 0x1000n;
const nextId = (): bigint => ++lastId;

/** The membership of one stand-in etcd cluster. Answers are encoded once, and again after a change. */
export class StandInCluster {
  readonly #id = nextId();
  readonly #members = new Map<bigint, StandInMember>();
  readonly #answers = new Map<string, Uint8Array>();
  #leader = 0n;
  #index = 100n;
  /** Accepts calls and never answers. */
  isBlackHole = false;

  /** Starts the member of a pod. The first pod of a cluster brings the list of all bootstrap members. */
  start(
    name: string,
    { initialCluster, version }: { readonly initialCluster: string; readonly version: string },
  ): bigint {
    if (this.#members.size === 0) for (const pair of initialCluster.split(',')) this.#bootstrap(pair);
    const member = [...this.#members.values()].find(({ peerURL }) => hostOf(peerURL) === name);
    if (member === undefined) return 0n; // a pod without a member: its etcd would end
    Object.assign(member, { name, version, isRunning: true });
    if (!this.#hasRunningLeader()) this.#leader = member.id;
    this.#changed();
    return member.id;
  }

  stop(id: bigint): void {
    const member = this.#members.get(id);
    if (member === undefined) return;
    member.isRunning = false;
    if (this.#leader === id)
      this.#leader = [...this.#members.values()].find(({ isRunning, isLearner }) => isRunning && !isLearner)?.id ?? 0n;
    this.#changed();
  }

  add(peerURL: string, isLearner: boolean): Member {
    const id = nextId();
    this.#members.set(id, { id, peerURL, name: '', isLearner, version: '', isRunning: false });
    this.#changed();
    return create(MemberSchema, { id, peerUrls: [peerURL], isLearner });
  }

  remove(id: bigint): void {
    this.stop(id);
    this.#members.delete(id);
    this.#changed();
  }

  promote(id: bigint): void {
    const member = this.#members.get(id);
    if (member !== undefined) member.isLearner = false;
    this.#changed();
  }

  moveLeader(to: bigint): void {
    this.#leader = to;
    this.#changed();
  }

  headerOf(id: bigint): ResponseHeader {
    return create(ResponseHeaderSchema, { clusterId: this.#id, memberId: id, revision: 1n, raftTerm: 2n });
  }

  status(id: bigint): Uint8Array {
    return this.#once(`status ${id}`, () => {
      const { version = '', isLearner = false } = this.#members.get(id) ?? {};
      const minor = version.split('.').slice(0, 2).join('.');
      const indexes = { raftIndex: this.#index, raftAppliedIndex: this.#index, raftTerm: 2n };
      const sizes = { dbSize: 20_480n, dbSizeInUse: 20_480n, storageVersion: minor };
      const state = { version, leader: this.#leader, isLearner };
      return toBinary(
        StatusResponseSchema,
        create(StatusResponseSchema, { header: this.headerOf(id), ...indexes, ...sizes, ...state }),
      );
    });
  }

  memberList(id: bigint): Uint8Array {
    return this.#once(`list ${id}`, () => {
      const members = [...this.#members.values()].map(({ id: ID, name, peerURL, isLearner }) =>
        create(MemberSchema, {
          ...{ id: ID, name, isLearner, peerUrls: [peerURL] },
          clientUrls: name === '' ? [] : [`http://${hostOf(peerURL)}:2379`],
        }),
      );
      return toBinary(
        MemberListResponseSchema,
        create(MemberListResponseSchema, { header: this.headerOf(id), members }),
      );
    });
  }

  /** No stand-in has keys. */
  range(id: bigint): Uint8Array {
    return this.#once(`range ${id}`, () =>
      toBinary(RangeResponseSchema, create(RangeResponseSchema, { header: this.headerOf(id) })),
    );
  }

  #bootstrap(pair: string): void {
    const id = nextId();
    const peerURL = pair.slice(pair.indexOf('=') + 1);
    this.#members.set(id, { id, peerURL, name: '', isLearner: false, version: '', isRunning: false });
  }

  #hasRunningLeader(): boolean {
    return this.#members.get(this.#leader)?.isRunning === true;
  }

  #changed(): void {
    this.#index++;
    this.#answers.clear();
  }

  #once(what: string, encode: () => Uint8Array): Uint8Array {
    const known = this.#answers.get(what) ?? encode();
    this.#answers.set(what, known);
    return known;
  }
}

const hostOf = (url: string): string => new URL(url).hostname.split('.')[0] ?? '';
