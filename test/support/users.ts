import type { Kubectl } from './kubectl.ts';

export const credentials = { user: 'root', password: 'open sesame' };

/** The Secret with the etcd user of the operator, and the spec field that names it. */
export const rootUserSecret = {
  name: 'root-user',
  content: { username: credentials.user, password: credentials.password },
};
export const asRoot = { auth: { operatorCredentials: rootUserSecret.name } };

/** Enables auth with etcdctl in a pod. */
export async function enableAuth(kubectl: Kubectl, pod: string, access = ''): Promise<void> {
  const etcdctl = `exec ${pod} -c etcd -- env ETCDCTL_API=3 etcdctl ${access}`;
  await kubectl(`${etcdctl} user add '${credentials.user}:${credentials.password}'`);
  await kubectl(`${etcdctl} role add root`).catch(() => ''); // exists by default in later versions
  await kubectl(`${etcdctl} user grant-role root root`);
  await kubectl(`${etcdctl} auth enable`);
  await kubectl.refused(`${etcdctl} put a b`);
}
