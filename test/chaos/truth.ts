import { type EtcdMember, hexOf } from '../../src/etcd/types.ts';

/** The parts of the status of an EtcdCluster that are compared with etcd. */
export interface ToldStatus {
  readonly size?: number;
  readonly readyMembers?: number;
  readonly currentVersion?: string;
  readonly memberStatus?: readonly {
    readonly name: string;
    readonly id?: string;
    readonly role?: string;
    readonly healthy?: boolean;
    readonly leader?: boolean;
    readonly version?: string;
  }[];
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** What etcd says of a cluster in which no member is missing. */
export interface EtcdFacts {
  readonly members: readonly Pick<EtcdMember, 'id' | 'name' | 'isLearner'>[];
  /** The version that each member answers with. */
  readonly versions: readonly string[];
}

/** What the status of a healthy, settled cluster says and etcd does not. */
export function liesIn(status: ToldStatus, { members, versions }: EtcdFacts): readonly string[] {
  const told = (status.memberStatus ?? []).map(({ name, id, role }) => `${name} ${id} ${role}`).toSorted();
  const real = members
    .map((each) => `${each.name} ${hexOf(each.id)} ${each.isLearner ? 'learner' : 'voter'}`)
    .toSorted();
  return [
    ...differing('members', told.join(', '), real.join(', ')),
    ...differing('size', status.size, members.length),
    ...differing('readyMembers', status.readyMembers, members.length),
    ...differing('currentVersion', status.currentVersion, [...new Set(versions)].join(', ')),
    ...differing(
      'healthy members',
      count(status, ({ healthy }) => healthy === true),
      members.length,
    ),
    ...differing(
      'leaders',
      count(status, ({ leader }) => leader === true),
      1,
    ),
    ...differing('condition Available', status.conditions?.find(({ type }) => type === 'Available')?.status, 'True'),
  ];
}

type MemberTold = NonNullable<ToldStatus['memberStatus']>[number];

const count = ({ memberStatus = [] }: ToldStatus, holds: (member: MemberTold) => boolean): number =>
  memberStatus.filter(holds).length;

const differing = (what: string, told: unknown, real: unknown): readonly string[] =>
  told === real ? [] : [`the status says ${what}: ${String(told)}; etcd says ${String(real)}`];
