/** The security context of all containers. */
export const restrictedSecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** etcd images set no user, so the pod does. Users can override it with `securityContext` in the pod policy. */
export const nonRootSecurityContext = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  fsGroup: 65532,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** A member on an adopted PVC must run as the owner of the files: some volumes do not support fsGroup. */
export const asUser = (user: number) => ({
  ...(user === 0 ? {} : { runAsNonRoot: true }),
  runAsUser: user,
  runAsGroup: user,
  seccompProfile: { type: 'RuntimeDefault' },
});
