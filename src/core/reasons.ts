/** Every reason we ever put in a condition, an Event, a log line or a metric, and what it tells the user. */
export const reasons = {
  AsDesired: 'The cluster is what its spec asks for.',
  Paused: 'spec.paused is set: nothing is changed until it is cleared.',
  BadSpec: 'The spec cannot be carried out as it is written; the message names the field.',
  EvenSize: 'spec.size is even: such a cluster survives no more failures than one that is smaller by one.',
  KnownFault: 'The version of etcd that spec.version names has a fault that is mended in a later patch.',
  QuotaTooLarge:
    'spec.quotaBackendBytes leaves etcd more room than its volume has, which would be full before etcd refuses to write.',
  SecretUnfit: 'A Secret that the spec names is missing or cannot be used; the message names it and the key in it.',
  NoTLS: 'The cluster has no TLS, for clients or between members; the message says which.',
  Certificates: 'Certificates or authorities are being issued, renewed or replaced, while members go on.',
  ClientsMoving: 'Clients are being switched to TLS or from it; the message says what each of them has to do.',
  Creating: 'The first members are being started.',
  Forming: 'The first members have been started and are finding each other.',
  Formed: 'etcd has formed the cluster; from now on no member may start as new.',
  TakingOver: 'Members that another operator has made are being taken over, while they go on.',
  NoContact: 'No majority of members answers, so membership is not known and nothing may be removed.',
  MembersUnreachable:
    'Some members have not answered for 15 seconds; the message says how many, and what is known of their pods and nodes.',
  NotReady: 'etcd serves, but no pod is ready yet, so the Service leads clients nowhere.',
  QuorumLost: 'A majority of members is gone together with its disks; only a person can decide what happens next.',
  WrongCluster: 'The members that answer belong to another cluster than the one that was created here.',
  MemberStarting: 'A member has been added and has not joined yet.',
  MemberStuck: 'A member cannot start; the message says what stands in its way.',
  MemberReturning: 'A member is being started again on its own disk.',
  DeadMember: 'A member has lost its disk or has been out of reach for too long, and is being replaced.',
  StrayCarrier:
    'A pod or volume belongs to no member any more: the pod is deleted, the volume kept for its grace time.',
  VolumeKept:
    'The volume of a removed member is kept for its grace time; status.keptVolumes names it. It can be deleted by hand at any time.',
  VolumeDeleted: 'The grace time of the volume of a removed member is over, and its PersistentVolumeClaim is deleted.',
  NameTaken:
    'Something has the name of a member and does not belong to the cluster: it is left alone; the message says what to do.',
  LabelsLost:
    'A pod or volume of a member had lost labels by which it is found, and gets them back; the message names both.',
  ScalingUp: 'There are fewer members than the spec asks for.',
  ScalingDown: 'There are more members than the spec asks for.',
  Upgrading: 'Members are being moved to another version, one after the other.',
  BackupFirst: 'A backup is being made before members move to another minor, as spec.backupBeforeUpgrade asks.',
  UpgradeRefused: 'etcd cannot go from the version that runs to the one that spec.version names; the message says why.',
  WrongImage: 'The image of a member, by digest or by tag, is of another version of etcd than spec.version names.',
  AlarmRaised:
    'etcd has raised the alarm NOSPACE or CORRUPT; the message says which members it is about, what it stops, and what to do.',
  AlarmsUnknown:
    'No member has answered yet which alarms etcd has raised: members before etcd 3.4 have to be asked. Nothing is changed before.',
  Rolling: 'What the spec says of pods is being carried to the members, one after the other.',
  VolumeGrowing: 'Volumes have been asked to grow, and have not yet; the message names one, and says how far it is.',
  VolumeStuck: 'A volume could not grow; the message says which, and why.',
  OutOfScope: 'An annotation gives the cluster to operators of a scope that there is not, so none looks after it.',
  OldDefinition:
    'A CustomResourceDefinition is older than the operator, or not its own; it works, but applying ours is better.',
  MissingRights: 'The operator may not do all that it should; the message says what stays undone without which right.',
  Saving: 'A backup is being made.',
  Saved: 'The backup was made, and is whole.',
  BackupFailed: 'The backup could not be made; the message says why.',
  BackupDoubtful: 'The backup was made, and is whole; the message says what is doubtful about it, or was left undone.',
  BackupBlocked: 'A backup is due and cannot begin yet; the message says what is missing.',
  PlainHttp: 'The way to the store is not encrypted, so others may read along.',
  Scheduled: 'The next backup is waiting for its time.',
  Suspended: 'No backup is started until suspend is cleared.',
  OneObject: 'Each backup of a schedule replaces the one before, because the URL of the object is the same for all.',
  Restoring: 'A backup is being restored into the cluster.',
  Restored: 'The cluster serves what was restored, at its full size.',
  RestoreFailed: 'The backup could not be restored, and the cluster is as it was; the message says why.',
  RestoreBlocked: 'The restore cannot go on yet; the message says what is missing.',
  StepFailed: 'The last step was tried and did not succeed; it will be tried again.',
} as const;

export type Reason = keyof typeof reasons;
