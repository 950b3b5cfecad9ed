/** Every reason we ever put in a condition, an Event, a log line or a metric, and what it tells the user. */
export const reasons = {
  AsDesired: 'The cluster is what its spec asks for.',
  Paused: 'spec.paused is set: nothing is changed until it is cleared.',
  BadSpec: 'The spec cannot be carried out as it is written; the message names the field.',
  EvenSize: 'spec.size is even: such a cluster survives no more failures than one that is smaller by one.',
  KnownFault: 'The version of etcd that spec.version names has a fault that is mended in a later patch.',
  SecretUnfit: 'A Secret that the spec names is missing or cannot be used; the message names it and the key in it.',
  Creating: 'The first members are being started.',
  Forming: 'The first members have been started and are finding each other.',
  Formed: 'etcd has formed the cluster; from now on no member may start as new.',
  NoContact: 'No majority of members answers, so membership is not known and nothing may be removed.',
  QuorumLost: 'A majority of members is gone together with its disks; only a person can decide what happens next.',
  WrongCluster: 'The members that answer belong to another cluster than the one that was created here.',
  MemberStarting: 'A member has been added and has not joined yet.',
  MemberStuck: 'A member cannot start; the message says what stands in its way.',
  MemberReturning: 'A member is being started again on its own disk.',
  DeadMember: 'A member has lost its disk or has been out of reach for too long, and is being replaced.',
  StrayCarrier: 'A pod or volume belongs to no member any more and is being removed.',
  ScalingUp: 'There are fewer members than the spec asks for.',
  ScalingDown: 'There are more members than the spec asks for.',
  Upgrading: 'Members are being moved to another version, one after the other.',
  UpgradeRefused: 'etcd cannot go from the version that runs to the one that spec.version names; the message says why.',
  Rolling: 'What the spec says of pods is being carried to the members, one after the other.',
  MissingRights: 'The operator may not do all that it should; the message says what stays undone without which right.',
  StepFailed: 'The last step was tried and did not succeed; it will be tried again.',
} as const;

export type Reason = keyof typeof reasons;
