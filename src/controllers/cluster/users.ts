import type { ClusterWorld, Member } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { upgradeMindsUsers } from '../../core/versions/users.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { isRefusal } from '../../etcd/errors.ts';
import { Failure } from '../../std/failure.ts';

type ConnectionTo = (name: CarrierName) => Pick<EtcdConnection, 'authenticate'> | undefined;

/** Whether etcd has users, asked only where that decides how far an upgrade may go. */
export async function hasUsers(
  { membership, intent }: Pick<ClusterWorld, 'membership' | 'intent'>,
  connectionTo: ConnectionTo,
  signal: AbortSignal,
): Promise<boolean> {
  const members = membership.seen ? membership.value.members : [];
  const running = members.flatMap(({ version }) => version ?? []);
  return upgradeMindsUsers(running, intent.version) && isAuthOn(members, connectionTo, signal);
}

interface Judged extends Pick<ClusterWorld, 'membership'> {
  readonly problems: readonly string[];
  /** The one among them that is about the operator's user. */
  readonly userFlaw: string | undefined;
}

/**
 * What is wrong with Secrets, with that of the operator's user set apart where etcd asks for none. That etcd answers without
 * is not enough: old versions tell everybody who their members are.
 */
export async function weighed(
  { problems, userFlaw, membership }: Judged,
  connectionTo: ConnectionTo,
  signal: AbortSignal,
): Promise<Pick<ClusterWorld, 'secretProblems' | 'unneededSecret'>> {
  const secretProblems = [...new Set(problems)];
  if (userFlaw === undefined || !membership.seen) return { secretProblems };
  if (await isAuthOn(membership.value.members, connectionTo, signal)) return { secretProblems };
  return { secretProblems: secretProblems.filter((says) => says !== userFlaw), unneededSecret: userFlaw };
}

/**
 * Old versions cannot be asked whether auth is switched on, but say so when somebody wants to enter whom they do not know.
 * Who does not answer is taken to have users.
 */
async function isAuthOn(members: readonly Member[], connectionTo: ConnectionTo, signal: AbortSignal): Promise<boolean> {
  const leader = members.find(({ leads }) => leads);
  const connection = leader && connectionTo(leader.name);
  if (connection === undefined) return true;
  return connection.authenticate('nobody', 'nobody', { signal, timeoutMillis: 2_000 }).then(
    () => true,
    (thrown: unknown) => {
      if (Failure.from(thrown).kind === 'bug') throw thrown;
      return !isRefusal(thrown, 'auth-not-enabled');
    },
  );
}

/** What to say when etcd has users and nobody told us whom to enter as. */
export const noUser =
  "etcd has users, and the operator is none of them: set the cluster's spec.auth.operatorCredentials to a Secret with username and password of one with the role root";
