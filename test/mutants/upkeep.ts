import { inFile } from './mutant.ts';

const act = 'src/controllers/cluster/act';

/** Writes to the objects around members, and objects of others. */
export const upkeepMutants = [
  ...inFile('src/core/cluster/plan/upkeep/client-service.ts', {
    'learner-serves-clients': {
      plants: 'the client Service leads to a learner, which refuses requests',
      replace: "if (member.role === 'learner') return false;",
      by: '',
    },
    'member-serves-before-it-has-caught-up': {
      plants: 'the client Service leads to a member that lags behind',
      replace: '|| !hasCaughtUp(member, members)) return undefined;',
      by: ') return undefined;',
    },
  }),
  ...inFile('src/core/cluster/plan/roll/leave-client-service.ts', {
    'last-endpoint-leaves-the-service': {
      plants: 'the only ready member leaves the client Service',
      replace: 'other !== memberPod && other.ready && other.serves === true',
      by: 'other.ready && other.serves === true',
    },
    'stop-before-clients-have-left': {
      plants: 'a member is stopped while the client Service still leads to it',
      replace: "clientEndpoints === 'unknown' || clientEndpoints?.includes(name) === false",
      by: "clientEndpoints === 'unknown' || clientEndpoints?.includes(name) !== undefined",
    },
    'stale-endpoints-block-for-ever': {
      plants: 'an outdated EndpointSlice blocks a change for ever',
      replace: 'withdrawnMillis > longestWaitMillis ||',
      by: '',
    },
  }),
  ...inFile(`${act}/upkeep/objects.ts`, {
    'object-of-another-corrected': {
      plants: 'a Service that was recreated meanwhile is corrected',
      replace: 'metadata: { uid, labels }, spec',
      by: 'metadata: { labels }, spec',
    },
  }),
  ...inFile(`${act}/upkeep/labels.ts`, {
    'labels-of-another-object': {
      plants: 'another object with the name of a member gets the labels of the member',
      replace: 'const body = { metadata: { uid, labels } };',
      by: 'const body = { metadata: { labels } };',
    },
    'service-label-of-another-pod': {
      plants: 'a pod that was recreated meanwhile joins or leaves the client Service',
      replace: 'body: { metadata: { uid, labels } }',
      by: 'body: { metadata: { labels } }',
    },
  }),
  ...inFile(`${act}/upkeep/pvcs.ts`, {
    'growth-of-another-pvc': {
      plants: 'a PVC that was recreated meanwhile grows',
      replace: 'metadata: { uid }, spec',
      by: 'metadata: {}, spec',
    },
  }),
  ...inFile(`${act}/upkeep/peers.ts`, {
    'finalizer-removed-before-the-record': {
      plants: 'the finalizer of an EtcdPeer is removed before its PVC names the cluster',
      replace: 'if (record !== undefined) {',
      by: "if (record?.claim === '') {",
    },
    'spec-of-another-peer': {
      plants: 'the spec of an EtcdPeer that was recreated meanwhile is replaced',
      replace: "{ op: 'test', path: '/metadata/uid', value: uid },",
      by: '',
    },
  }),
  ...inFile(`${act}/upkeep/take-upkeep.ts`, {
    'bootstrap-without-services': {
      plants: 'members bootstrap although their Service could not be created',
      replace: "if (part === 'services' && !hasFormed) throw failure;",
      by: '',
    },
    'refused-service-blocks-healing': {
      plants: 'a Service that is refused blocks the steps of a formed cluster',
      replace: "if (part === 'services' && !hasFormed) throw failure;",
      by: "if (part === 'services') throw failure;",
    },
  }),
  ...inFile(`${act}/create-pvc.ts`, {
    'unused-pvc-replaced-without-version': {
      plants: 'a PVC is replaced as unused although a volume was bound to it meanwhile',
      replace: 'const preconditions = { uid, resourceVersion };',
      by: 'const preconditions = { uid };',
    },
  }),
  ...inFile(`${act}/certificates.ts`, {
    'certificates-annotate-another-pod': {
      plants: 'a pod that was recreated meanwhile is annotated',
      replace: 'metadata: { uid: metadata.uid, annotations }',
      by: 'metadata: { annotations }',
    },
  }),
  ...inFile(`${act}/adopt.ts`, {
    'another-pod-adopted': {
      plants: 'a pod that was recreated meanwhile is adopted',
      replace: 'metadata: { uid, annotations, ownerReferences: [owner] }',
      by: 'metadata: { annotations, ownerReferences: [owner] }',
    },
  }),
  ...inFile(`${act}/patch-pod.ts`, {
    'another-minor-after-the-first-start': {
      plants: 'a bootstrap pod that has run by now gets another minor, past its data',
      replace: 'if (pod?.metadata.uid !== uid || hasRun(pod)) throw',
      by: 'if (pod?.metadata.uid !== uid) throw',
    },
  }),
  ...inFile('src/controllers/restore', {
    'restored-cluster-bootstraps': {
      plants: 'the cluster of a restore is created without the hold, and bootstraps empty',
      replace: '[dialect.holdAnnotation]: uid, [madeByAnnotation(dialect)]: uid',
      by: '[madeByAnnotation(dialect)]: uid',
    },
  }),
  ...inFile('src/controllers/restore', {
    'pvcs-of-an-earlier-cluster-ignored': {
      plants: 'a restore creates a cluster that adopts the PVCs of an earlier one',
      replace: 'const claim = claims.find(isLeft);',
      by: "const claim = claims.find(({ metadata }) => metadata.name === '');",
    },
  }),
  ...inFile('src/controllers/backup/reconcile.ts', {
    'orphaned-agents-stay': {
      plants: 'an agent with the credentials of the operator outlives its EtcdBackup',
      replace: 'return labels?.[label] !== uid && deletionTimestamp === undefined;',
      by: "return labels?.[label] === '' && deletionTimestamp === undefined;",
    },
  }),
  ...inFile('src/controllers/shared/operator-store.ts', {
    'any-url-with-the-credentials-of-the-operator': {
      plants: 'a tenant reaches every object with the credentials of the operator',
      replace:
        'if (operators.urls.length === 0 || operators.urls.some((url) => isBelow(address, url, namespace))) return undefined;',
      by: 'if (operators.urls.length >= 0 || namespace === address.key) return undefined;',
    },
    'credentials-sent-to-any-endpoint': {
      plants: 'the credentials of the operator are sent to a server that a tenant names',
      replace: 'if (sendsCredentials(address)) return',
      by: "if (address.key === '') return",
    },
    'any-object-is-readable': {
      plants: 'a tenant restores the backup of another with the credentials of the operator',
      replace:
        'if (refusal !== undefined || operators.urls.length > 0 || namespace === operators.namespace) return refusal;',
      by: 'if (refusal !== undefined || namespace !== undefined) return refusal;',
    },
  }),
  ...inFile('src/controllers/shared/pod-output.ts', {
    'secrets-in-the-status': {
      plants: 'the output of a pod with values of Secrets reaches the status',
      replace: 'hasSecretVariables(pod) ? notShown(pod, container) :',
      by: "container === '' ? notShown(pod, container) :",
    },
  }),
];
