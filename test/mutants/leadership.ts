import { inFile } from './mutant.ts';

/** The lease, the clients that check it, caches, and the calls to etcd. */
export const leadershipMutants = [
  ...inFile('src/runtime/lease.ts', {
    'stale-lease': {
      plants: 'a lease that was not renewed in time still holds',
      replace: 'this.#options.clock.monotonic() - this.#renewed.at < this.#deadlineMillis',
      by: 'this.#options.clock.monotonic() >= this.#renewed.at',
    },
    'pause-unnoticed': {
      plants: 'a paused process goes on as the leader',
      replace: 'if (isLong(lateMillis)) return',
      by: 'if (lateMillis === -1) return',
    },
    'suspended-machine-unnoticed': {
      plants: 'after a suspension of the machine the process goes on as the leader',
      replace: 'if (isLong(aheadMillis)) return',
      by: 'if (aheadMillis === -1) return',
    },
    'pause-hidden-by-a-renewal': {
      plants: 'a renewal after a pause hides the pause',
      replace: "if (paused !== undefined) return lose(this.#loss('unreachable', paused));",
      by: '',
    },
    'renewal-counts-from-its-answer': {
      plants: 'the lease counts from the answer instead of the request',
      replace: 'this.#renewed = { at: began, wall };',
      by: 'this.#renewed = { at: clock.monotonic(), wall: clock.now().getTime() };',
    },
    'two-processes-with-one-identity': {
      plants: 'two processes with the same identity both lead',
      replace: 'return isOfProcess && spec?.holderIdentity === this.#options.identity;',
      by: 'return spec?.holderIdentity === this.#options.identity;',
    },
    'lease-taken-before-it-expires': {
      plants: 'the lease of a live leader is taken',
      replace: 'this.#seen.at + leaseDurationSeconds * 1000',
      by: 'this.#seen.at - leaseDurationSeconds * 1000',
    },
    'taken-lease-unnoticed': {
      plants: 'the loss of the lease to another process is ignored',
      replace: "if ((await this.#attempt(lost)) === 'taken') return",
      by: "if ((await this.#attempt(lost)) === 'unknown' && stop.aborted) return",
    },
    'lease-of-another-released': {
      plants: 'a stopping process releases the lease of another',
      replace: 'if (!this.#isHeldBy(lease)) return;',
      by: '',
    },
    'unknown-renewal-repeated': {
      plants: 'after a renewal without an answer the lease is not read again',
      replace: 'if (this.#isOurs()) this.#seen = undefined;',
      by: '',
    },
    'lease-taken-without-version': {
      plants: 'two candidates take an expired lease at the same time',
      replace: 'const metadata = { ...lease.metadata, annotations };',
      by: "const metadata = { ...lease.metadata, annotations, resourceVersion: '' };",
    },
    'lost-lease-still-holds': {
      plants: 'after the loss of the lease the process holds it for the rest of its time',
      replace: 'holds: () => !lost.signal.aborted && candidate.isFresh()',
      by: 'holds: () => candidate.isFresh()',
    },
  }),
  ...inFile('src/runtime/fenced-kube-client.ts', {
    'lease-loss-ignored': {
      plants: 'the loss of the lease stops no write',
      replace: 'if (holds?.() === false) throw',
      by: 'if (holds?.() === undefined && holds !== undefined) throw',
    },
    'create-without-the-lease': {
      plants: 'the lease is not checked right before an object is created',
      replace: 'return client.create(resource, object, { ...options, confirm });',
      by: 'return client.create(resource, object, { ...options });',
    },
    'update-without-the-lease': {
      plants: 'the lease is not checked right before an object is updated',
      replace: 'return client.update(resource, object, { ...options, confirm });',
      by: 'return client.update(resource, object, { ...options });',
    },
    'patch-without-the-lease': {
      plants: 'the lease is not checked right before an object is patched',
      replace: 'return client.patch(resource, at, { ...patch, confirm });',
      by: 'return client.patch(resource, at, { ...patch });',
    },
    'remove-without-the-lease': {
      plants: 'the lease is not checked right before an object is removed',
      replace: 'return client.remove(resource, at, { ...options, confirm });',
      by: 'return client.remove(resource, at, { ...options });',
    },
  }),
  ...inFile('src/kube/connection.ts', {
    'request-after-the-loss-of-the-lease': {
      plants: 'a request that waited for credentials is sent after the loss of the lease',
      replace: 'confirm?.();',
      by: 'void confirm;',
    },
  }),
  ...inFile('src/etcd/call.ts', {
    'etcd-call-after-the-loss-of-the-lease': {
      plants: 'a membership change is sent after the loss of the lease',
      replace: 'deadline.confirm(); if (isWrite(method.name, request)) this.#confirmWrite?.();',
      by: 'deadline.confirm();',
    },
    'alarm-disarmed-after-the-loss-of-the-lease': {
      plants: 'every call of the method Alarm counts as a read',
      replace: "Reflect.get(request, 'action') !== AlarmRequest_AlarmAction.GET",
      by: "Reflect.get(request, 'action') === undefined",
    },
  }),
  ...inFile('src/controllers/shared/fenced-etcd.ts', {
    'etcd-without-the-lease': {
      plants: 'connections to etcd know nothing of the lease',
      replace: 'confirmWrite: () => assertLeading(holds) }',
      by: 'confirmWrite: () => void holds }',
    },
  }),
  ...inFile('src/etcd/membership.ts', {
    'list-not-linearizable': {
      plants: 'the member list is read without a quorum',
      replace: 'if (linearizable && !isConfirmed) await linearizableRead(options);',
      by: '',
    },
    'learner-becomes-a-voter': {
      plants: 'etcd before 3.4 gets a learner, and adds a voter',
      replace: 'if (learner) await assertLearnerSupport(caller, options);',
      by: '',
    },
  }),
  ...inFile('src/controllers/cluster/settled.ts', {
    'members-of-a-settled-cluster-never-asked': {
      plants: 'all members of a settled cluster are never asked again',
      replace: 'settled.looks >= mostLooks ||',
      by: '',
    },
    'changed-pod-of-a-settled-cluster-ignored': {
      plants: 'a settled cluster counts as settled although a pod has changed',
      replace: '|| settled.pods !== stateOf(memberPods)',
      by: '',
    },
    'settled-without-quorum': {
      plants: 'any answer of one member confirms a settled cluster',
      replace: 'if (answer === undefined || !confirms(answer, settled.membership, one)) return undefined;',
      by: '',
    },
  }),
  ...inFile('src/runtime/reflector.ts', {
    '410-ignored': {
      plants: 'an expired resourceVersion causes no new list',
      replace: 'if (isExpired(failure) || failures >= failuresUntilRelist)',
      by: 'if (failures >= failuresUntilRelist)',
    },
    'broken-version-kept': {
      plants: 'a watch that always fails is never replaced by a list',
      replace: 'if (isExpired(failure) || failures >= failuresUntilRelist)',
      by: 'if (isExpired(failure))',
    },
    'restored-server-unnoticed': {
      plants: 'the cache keeps objects that the API server lost with a restore of its etcd',
      replace: 'if (before !== undefined && compareResourceVersions(version, before) < 0)',
      by: "if (before === '')",
    },
    'deletions-ignored': {
      plants: 'deleted objects stay in the cache',
      replace: 'return this.store.remove(this.#trim(event.object));',
      by: 'return undefined;',
    },
    'watch-begins-too-late': {
      plants: 'a watch begins without a resourceVersion and misses changes',
      replace: 'resourceVersion: from, lastsSeconds, signal',
      by: "resourceVersion: from === '0' ? from : '', lastsSeconds, signal",
    },
    'bookmarks-ignored': {
      plants: 'bookmarks do not advance the resourceVersion of a watch',
      replace: 'this.store.advance(version, namespace);',
      by: '',
    },
  }),
  ...inFile('src/runtime/store.ts', {
    'older-state-replaces-newer': {
      plants: 'an older state of an object replaces a newer one',
      replace: 'if (!isStale) this.#put(object);',
      by: 'this.#put(object);',
    },
    'recreated-object-is-an-update': {
      plants: 'an object that was deleted and created again counts as changed',
      replace: 'if (old.metadata.uid !== object.metadata.uid) {',
      by: "if (old.metadata.uid === '') {",
    },
    'owner-in-another-namespace': {
      plants: 'an object in another namespace can name any cluster as its owner',
      replace: 'return this.#valuesOf(object).map((value) => keyOf({ namespace, name: value }));',
      by: "return this.#valuesOf(object).map((value) => keyOf({ namespace: namespace && 'any', name: value }));",
    },
  }),
  ...inFile('src/runtime/expectations.ts', {
    'deletion-of-another-object-awaited': {
      plants: 'a deletion counts as unseen while a new object has the name',
      replace: 'now === undefined || now.uid !== version.uid || now.deletionTimestamp !== undefined',
      by: 'now === undefined || now.deletionTimestamp !== undefined',
    },
    'unseen-deletion-is-seen': {
      plants: 'a deletion counts as seen before the cache has reached it',
      replace: 'if (!hasReached(store, version)) return false;',
      by: '',
    },
    'unseen-write-is-seen': {
      plants: 'a write counts as seen although the cache is one version behind',
      replace: 'compareResourceVersions(version, resourceVersion) >= 0',
      by: 'compareResourceVersions(version, resourceVersion) >= -1',
    },
    'expectation-never-expires': {
      plants: 'an operator that misses one event stands still',
      replace: 'open.filter(({ expires }) => expires > now)',
      by: 'open.filter(({ expires }) => expires > 0)',
    },
  }),
  ...inFile('src/runtime/work-queue.ts', {
    'two-passes-of-one-cluster': {
      plants: 'two passes of the same cluster run at the same time',
      replace: 'if (this.#working.has(key)) this.#addedMeanwhile.add(key); else',
      by: '',
    },
    'event-during-a-pass-lost': {
      plants: 'an event during a pass is lost',
      replace: 'if (this.#addedMeanwhile.delete(key)) this.add(key);',
      by: 'this.#addedMeanwhile.delete(key);',
    },
  }),
];
