import type { CarrierName, ClusterWorld } from '../../core/model/cluster.ts';
import { upgradeMindsUsers } from '../../core/versions/users.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { isRefusal } from '../../etcd/errors.ts';
import { Failure } from '../../std/failure.ts';

/**
 * Whether etcd's auth is switched on. Old versions cannot be asked that, but say so when somebody wants to enter whom they
 * do not know. It is asked only where it decides something; who does not answer is taken to have users.
 */
export async function hasUsers(
  { membership, intent }: Pick<ClusterWorld, 'membership' | 'intent'>,
  connectionTo: (name: CarrierName) => Pick<EtcdConnection, 'authenticate'> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const members = membership.seen ? membership.value.members : [];
  const running = members.flatMap(({ version }) => version ?? []);
  if (!upgradeMindsUsers(running, intent.version)) return false;
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
