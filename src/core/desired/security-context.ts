/** What every container of ours does without. */
export const nothingSpecial = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** Images of etcd name no user, so somebody must; whoever knows better sets `securityContext` in the pod policy. */
export const anyoneButRoot = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  fsGroup: 65532,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Whoever returns to files that are somebody's can read them only as that user, on volumes that give nothing to groups. */
export const asUser = (user: number) => ({
  ...(user === 0 ? {} : { runAsNonRoot: true }),
  runAsUser: user,
  runAsGroup: user,
  seccompProfile: { type: 'RuntimeDefault' },
});
