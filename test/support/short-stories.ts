/**
 * The stories of `make test`: one for each capability, with versions of etcd that are quickly built. Beside each, the seconds it
 * took on two cores among the others: where no ledger knows better, files with the longest stories begin first.
 */
export const shortStorySeconds: Readonly<Record<string, number>> = {
  'a cluster of etcd 3.7.3 is created, grows, shrinks and heals': 65,
  'members of coreos return to their own disks, one of them or all': 47,
  'numbered members come and go with peer, pod and volume, and nothing is lost': 73,
  'one operator looks after clusters of both APIs, and a name is given away once': 21,
  'a cluster of etcd 3.6.16 whose auth is switched on grows, heals and is upgraded': 45,
  'the operator makes the certificates itself, and renews them without a restart': 83,
  'the example of a backup is made on a volume, and restored from there': 104,
  'a backup that fails holds an upgrade until it can be made': 53,
  'a cluster that an original has made, and of which nobody answers, is told and not touched': 19,
  'a paused cluster is left alone until it is paused no more': 38,
  'a version that nobody has is reported, and correcting it recovers': 24,
  'a majority that lost its data is reported, and nothing is destroyed': 36,
  'an operator that was away takes up where it left': 17,
  'services and budget that were deleted come back': 8,
  'logs, exec and attach work as typed': 26,
  'a shell can be had by run -it --rm': 5,
  'a volume keeps its data when its pod is deleted': 27,
  'services and headless names resolve and connect across nodes': 12,
  "the first chapter's web server is scaled, and mended": 3,
};

export const shortStories: readonly string[] = Object.keys(shortStorySeconds);
