import { inFile } from './mutant.ts';

/** Agents, snapshots and stores. */
export const agentMutants = [
  ...inFile('src/controllers/shared/agent-pods.ts', {
    'exit-code-is-enough': {
      plants: 'an agent that ended with exit code 0 and without a result counts as successful',
      replace: "code === 0 && result?.ok === true && (name !== 'save' || result.url !== undefined)",
      by: "code === 0 && result?.ok !== false && (name !== 'save' || result?.url !== '')",
    },
    'result-is-enough': {
      plants: 'an agent that left a good result and crashed counts as successful',
      replace: 'code === 0 && result?.ok === true &&',
      by: 'result?.ok === true &&',
    },
    'backup-without-url': {
      plants: 'a backup without a URL counts as successful',
      replace: "(name !== 'save' || result.url !== undefined)",
      by: "(name !== 'save' || result.url !== '')",
    },
    'pod-without-agents-succeeds': {
      plants: 'a pod whose agents never ran counts as successful',
      replace: 'ends.length > 0 && ends.every(hasSucceeded)',
      by: 'ends.every(hasSucceeded)',
    },
    'failed-pod-succeeds': {
      plants: 'a pod that Kubernetes marks as failed counts as successful',
      replace: "if (haveAllSucceeded(ends) && status.phase !== 'Failed') return good(facts);",
      by: 'if (haveAllSucceeded(ends)) return good(facts);',
    },
    'injected-container-is-an-agent': {
      plants: 'a container of an admission webhook counts as an agent without a result',
      replace: 'if (end === undefined || others.has(name)) return [];',
      by: 'if (end === undefined) return [];',
    },
    'out-of-memory-is-an-interruption': {
      plants: 'an agent that needs too much memory is started again and again',
      replace: "end.reason !== 'OOMKilled' && end.code > endedBySignal",
      by: 'end.code > endedBySignal',
    },
    'deadline-is-an-interruption': {
      plants: 'an agent that exceeds its deadline is started again and again',
      replace: "if (reason === 'DeadlineExceeded') return false;",
      by: '',
    },
    'result-of-a-terminating-pod': {
      plants: 'the result of a pod that is being deleted counts',
      replace:
        "if (metadata.deletionTimestamp !== undefined) return { is: 'starting', why: 'the pod is being deleted' };",
      by: '',
    },
    'credentials-in-a-result': {
      plants: 'a credential in the message of an agent reaches the status',
      replace: 'message: z.string().transform(withoutCredentials).optional()',
      by: 'message: z.string().optional()',
    },
    'failed-pruning-fails-a-backup': {
      plants: 'a backup fails because old backups could not be deleted',
      replace: 'if (hasSaved(first)) return notPruned(facts, why);',
      by: '',
    },
  }),
  ...inFile('src/etcd/bbolt/trailing-hash.ts', {
    'hash-mismatch-accepted': {
      plants: 'a snapshot whose hash does not match is accepted',
      replace: 'return this.#hash.copy().digest().equals(this.#end);',
      by: 'return this.#end.length === hashLength;',
    },
  }),
  ...inFile('src/agent/fetch.ts', {
    'damaged-snapshot-restored': {
      plants: 'a damaged snapshot is restored',
      replace: 'if (this.#check.matches()) return undefined;',
      by: 'if (this.#bytes > 0) return undefined;',
    },
    'manifest-of-another-snapshot': {
      plants: 'the manifest of another snapshot describes this one',
      replace: 'if (manifest?.snapshot.sha256 === sha256) return manifest;',
      by: 'if (manifest?.snapshot.sha256 !== sha256.repeat(2)) return manifest;',
    },
    'newer-snapshot-restored': {
      plants: 'a snapshot of a newer etcd is restored into an older one',
      replace: 'refuseNewer(written, targetVersion);',
      by: '',
    },
    'size-of-a-snapshot-unlimited': {
      plants: 'a small object that decompresses to a huge one fills the volume',
      replace: 'if (this.#bytes > this.#maxBytes) throw this.#tooLarge();',
      by: '',
    },
    'unverified-file-left': {
      plants: 'a file that failed its verification stays on the volume',
      replace: 'await rm(temporary, { force: true });',
      by: '',
    },
  }),
  ...inFile('src/agent/save.ts', {
    'short-object-accepted': {
      plants: 'an object that is shorter than what was sent counts as a backup',
      replace: 'if (size !== stored.bytes) throw',
      by: 'if (size < 0) throw',
    },
    'damaged-object-left': {
      plants: 'a damaged object stays in the store and counts as a backup',
      replace: 'if (isDamaged && key !== undefined)',
      by: "if (isDamaged && key === '')",
    },
    'object-of-another-writer-deleted': {
      plants: 'after a failed write an object with a fixed key is deleted',
      replace: 'deleteDamaged(thrown, settings.dated ? key : undefined, parts)',
      by: 'deleteDamaged(thrown, key, parts)',
    },
  }),
  ...inFile('src/agent/source.ts', {
    'backup-of-a-lagging-member': {
      plants: 'a backup is taken from a member that lacks acknowledged writes',
      replace: 'await etcd.linearizableRead({ signal, timeoutMillis: readMillis });',
      by: '',
    },
    'backup-of-two-clusters': {
      plants: 'endpoints of two clusters are mixed',
      replace: 'assertOneCluster(answers);',
      by: '',
    },
    'backup-of-a-corrupt-member': {
      plants: 'a backup is taken from a member with the alarm CORRUPT',
      replace: 'await candidatesOf(sound, signal)',
      by: 'await candidatesOf(sound.length > 0 ? answers : sound, signal)',
    },
    'backup-of-an-unconfirmed-member': {
      plants: 'a member that cannot confirm its data is preferred',
      replace: 'Number(isConfirmed(a)) - Number(isConfirmed(b)) ||',
      by: '',
    },
  }),
  ...inFile('src/agent/corrupt-members.ts', {
    'unnamed-corrupt-member-ignored': {
      plants: 'an alarm CORRUPT that names no member is ignored',
      replace: 'if (corrupt.has(0n)) throw',
      by: 'if (corrupt.size < 0) throw',
    },
  }),
  ...inFile('src/objectstore/guarded-store.ts', {
    'truncated-download-accepted': {
      plants: 'a download that ends early counts as whole',
      replace: 'if (received !== size) throw cutShort();',
      by: '',
    },
    'unconfirmed-upload-accepted': {
      plants: 'a store that confirms no checksum is trusted',
      replace: 'if (isConfirmed) return;',
      by: 'if (isConfirmed || !isConfirmed) return;',
    },
    'wrong-bytes-accepted': {
      plants: 'bytes that differ from those sent count as stored',
      replace: 'if (found.equals(sent)) return;',
      by: "if (found.text !== '') return;",
    },
  }),
];
