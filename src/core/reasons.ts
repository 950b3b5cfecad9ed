/**
 * Every reason that the operator writes into conditions, Events, log lines and metrics, with its meaning for the user.
 */
export const reasons = {
  AsDesired: 'The cluster is what its spec asks for.',
  Paused: 'spec.paused is set: nothing is changed until it is cleared.',
  BadSpec: 'The spec cannot be carried out as it is written; the message names the field.',
  EvenSize: 'spec.size is even: the cluster survives no more failures than a cluster with one member less.',
  KnownFault: 'The etcd version in spec.version has a known fault that a later patch fixes.',
  QuotaTooLarge:
    'spec.quotaBackendBytes is larger than the volume: the volume would be full before etcd refuses writes.',
  UnknownField: 'The spec has a field that Kubernetes does not know and drops; the message names the field.',
  InvalidSecret: 'A Secret that the spec names is missing or invalid; the message names the Secret and the key.',
  NoTLS: 'The cluster has no TLS for client traffic, for peer traffic, or for both; the message names which.',
  Certificates: 'Certificates or CAs are being issued, renewed or replaced; members keep running.',
  ClientsMoving: 'Clients are being switched to TLS or from TLS; the message names what each client has to do.',
  Creating: 'The bootstrap members are being started.',
  Forming: 'The bootstrap members have been started and are forming the cluster.',
  Formed: 'etcd has formed the cluster; from now on no member may bootstrap a new one.',
  TakingOver: 'Members that another operator created are being adopted; they keep running.',
  NoContact: 'No majority of members answers, so membership is unknown and nothing may be removed.',
  MembersUnreachable:
    'Some members have not answered for 15 seconds; the message gives their number and the state of their pods and nodes.',
  NotReady: 'etcd serves, but no pod is ready yet, so the Service has no endpoints.',
  QuorumLost: 'A majority of members has lost its data; a user has to decide what happens next.',
  WrongCluster: 'The members or volumes that were found belong to another etcd cluster.',
  MemberStarting: 'A member has been added and has not joined yet.',
  MemberStuck: 'A member cannot start; the message names the cause.',
  MemberReturning: 'A member is being restarted on its own volume.',
  DeadMember: 'A member has lost its volume or has been unreachable for too long, and is being replaced.',
  OrphanedResource: 'A pod or PVC belongs to no member: the pod is deleted, the PVC is kept for its grace time.',
  VolumeKept:
    'The PVC of a removed member is kept for its grace time; status.keptVolumes names it. It can be deleted by hand at any time.',
  VolumeDeleted: 'The grace time of the PVC of a removed member is over, and the PVC is deleted.',
  NameTaken:
    'A foreign object has the name of a member: the operator does not touch it; the message names the object and what to do.',
  LabelsLost:
    'A pod or PVC of a member has lost labels that the operator needs, and gets them back; the message names both.',
  ScalingUp: 'There are fewer members than the spec asks for.',
  ScalingDown: 'There are more members than the spec asks for.',
  Upgrading: 'Members are being moved to another version, one at a time.',
  BackupFirst: 'A backup is being made before members move to another minor, as spec.backupBeforeUpgrade asks.',
  UpgradeRefused:
    'etcd cannot go from the running version to the version in spec.version; the message names the cause.',
  WrongImage: 'The image of a member, by digest or by tag, contains another etcd version than spec.version.',
  AlarmRaised:
    'etcd has raised the alarm NOSPACE or CORRUPT; the message names the members, what the alarm blocks, and what to do.',
  AlarmsUnknown:
    'No member has reported its alarms yet: etcd before 3.4 must be asked for them separately. Nothing is changed before.',
  Rolling: 'A change of the pod template is being rolled out, one member at a time.',
  RollQueued: 'A change waits until fewer other clusters roll: --max-rolls of the operator limits them.',
  VolumeGrowing: 'Volumes are being resized; the message names a PVC and its progress.',
  VolumeStuck: 'A volume could not be resized; the message names the PVC and the cause.',
  UnknownScope: 'An annotation assigns the cluster to a scope that no operator serves, so the cluster is not managed.',
  OldDefinition:
    'A CustomResourceDefinition is older than the operator, or not its own; it works, but applying ours is better.',
  MissingRights: 'The operator lacks permissions; the message names each permission and what stays undone without it.',
  Saving: 'A backup is being made.',
  Saved: 'The backup was made, and is complete.',
  BackupFailed: 'The backup could not be made; the message names the cause.',
  BackupWarning: 'The backup was made, and is complete; the message names a problem with it or a part left undone.',
  BackupBlocked: 'A backup is due and cannot begin yet; the message names what is missing.',
  PlainHttp: 'The connection to the object store is not encrypted.',
  Scheduled: 'The next backup is waiting for its scheduled time.',
  Suspended: 'No backup is started until suspend is cleared.',
  OneObject: 'Each backup of a schedule replaces the previous backup, because the object URL is the same for all.',
  Restoring: 'A backup is being restored into the cluster.',
  Restored: 'The cluster serves the restored data, at its full size.',
  RestoreFailed: 'The backup could not be restored, and the cluster is unchanged; the message names the cause.',
  RestoreBlocked: 'The restore cannot go on yet; the message names what is missing.',
  StepFailed: 'The last step failed and will be retried.',
} as const;

export type Reason = keyof typeof reasons;
