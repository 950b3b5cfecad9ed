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
