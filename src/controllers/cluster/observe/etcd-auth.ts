import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { ClusterWorld, Member, Refusal } from '../../../core/cluster/model/cluster.ts';
import type { MemberName } from '../../../core/cluster/model/names.ts';
import { isBlockedByAuth } from '../../../core/versions/auth.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import { isRefusal } from '../../../etcd/errors.ts';
import { Failure } from '../../../std/failure.ts';
import type { Security } from '../tls/tls-state.ts';
import { missingRootRole, wrongPassword } from '../tls/validate-credentials.ts';

type ConnectionTo = (name: MemberName) => Pick<EtcdConnection, 'authenticate'> | undefined;

/** True if etcd auth is enabled. etcd is asked only if that limits an upgrade. */
export async function hasUsers(
  { membership, intent }: Pick<ClusterWorld, 'membership' | 'intent'>,
  connectionTo: ConnectionTo,
  signal: AbortSignal,
): Promise<boolean> {
  const members = membership.seen ? membership.value.members : [];
  const running = members.flatMap(({ version }) => version ?? []);
  return isBlockedByAuth(running, intent.version) && isAuthOn(members, connectionTo, signal);
}

interface Judged extends Pick<ClusterWorld, 'membership'> {
  readonly problems: readonly string[];
  /** The problem with the operator's user, which is also in `problems`. */
  readonly userProblem: string | undefined;
}

/**
 * Separates the problem of the operator's user if etcd auth is disabled. An answer to an anonymous request does not
 * prove that: old versions return their member list without authentication.
 */
export async function classifySecretProblems(
  { problems, userProblem, membership }: Judged,
  connectionTo: ConnectionTo,
  signal: AbortSignal,
): Promise<Pick<ClusterWorld, 'secretProblems' | 'unneededSecret'>> {
  const secretProblems = [...new Set(problems)];
  if (userProblem === undefined || !membership.seen) return { secretProblems };
  if (await isAuthOn(membership.value.members, connectionTo, signal)) return { secretProblems };
  return { secretProblems: secretProblems.filter((problem) => problem !== userProblem), unneededSecret: userProblem };
}

/**
 * Old versions have no request for the auth status, but their refusal of an unknown user shows it. Auth counts as
 * enabled if the leader does not answer.
 */
async function isAuthOn(members: readonly Member[], connectionTo: ConnectionTo, signal: AbortSignal): Promise<boolean> {
  const leader = members.find(({ leads }) => leads);
  const connection = leader && connectionTo(leader.name);
  if (connection === undefined) return true;
  return connection.authenticate('etcd-operator-probe', 'etcd-operator-probe', { signal, timeoutMillis: 2_000 }).then(
    () => true,
    (thrown: unknown) => {
      if (Failure.from(thrown).kind === 'bug') throw thrown;
      return !isRefusal(thrown, 'auth-not-enabled');
    },
  );
}

/** The problem if etcd auth is enabled and the spec names no user. */
const noOperatorUser =
  'etcd auth is enabled, but the operator has no user: set spec.auth.operatorCredentials to a Secret with the username and password of an etcd user with the role root';

type Named = Pick<ReadCluster, 'operatorCredentials'> & Pick<Security, 'userProblem'>;

/** If etcd refuses the operator's user, the cause is the Secret of that user, or a spec that names no Secret. */
export function refusedUser(
  refused: Refusal | undefined,
  { operatorCredentials, userProblem }: Named,
): readonly string[] {
  if (refused === undefined) return [];
  if (userProblem !== undefined) return [userProblem];
  if (operatorCredentials === undefined) return [noOperatorUser];
  return [(refused === 'unknown-user' ? wrongPassword : missingRootRole)(operatorCredentials)];
}
