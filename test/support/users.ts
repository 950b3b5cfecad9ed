import type { Kubectl } from './kubectl.ts';

export const credentials = { user: 'root', password: 'open sesame' };

/** The Secret that tells the operator as whom to enter, and what a spec says of it. */
export const usersSecret = {
  name: 'root-user',
  content: { username: credentials.user, password: credentials.password },
};
export const asRoot = { auth: { operatorCredentials: usersSecret.name } };

/** As an administrator does it, in a pod. */
export async function switchAuthOn(kubectl: Kubectl, pod: string, entry = ''): Promise<void> {
  const etcdctl = `exec ${pod} -c etcd -- env ETCDCTL_API=3 etcdctl ${entry}`;
  await kubectl(`${etcdctl} user add '${credentials.user}:${credentials.password}'`);
  await kubectl(`${etcdctl} role add root`).catch(() => ''); // later versions have it from the start
  await kubectl(`${etcdctl} user grant-role root root`);
  await kubectl(`${etcdctl} auth enable`);
  await kubectl.refused(`${etcdctl} put a b`);
}
