import { describe, expect, it } from 'vitest';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import type { MemberName } from '../../core/cluster/model/names.ts';
import { memberPodManifest } from '../../core/manifests/pod.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { memberPodsOf } from '../cluster/observe/members.ts';
import { stateOfSeed } from '../restore/seed-state.ts';
import { agentStateOf } from './agent-pods.ts';

const value = 'hunter2-of-production';
const name = 'db-0' as MemberName;

const apis = {
  coreos: (etcdEnv: readonly object[]) => coreos.read(raw({ size: 1, pod: { etcdEnv } })),
  improbable: (etcdEnv: readonly object[]) => improbable.read(raw({ replicas: 1, podTemplate: { etcdEnv } })),
} as const;

const raw = (spec: object) => ({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });

/** A pod with the value in every message of its container statuses. */
function podThatPrints(api: keyof typeof apis, valueFrom: object, reason = 'CrashLoopBackOff') {
  const read = apis[api]([{ name: 'ETCD_LOG_LEVEL', valueFrom }]);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  const join = { as: 'bootstrap', of: { members: [name], token: 't' } } as const;
  const pod = memberPodManifest(blueprint, { name, version: blueprint.intent.version, join });
  const terminated = {
    exitCode: 1,
    message: `{"level":"fatal","msg":"bad log level","error":"unrecognized: ${value}"}`,
  };
  const container = { restartCount: 3, lastState: { terminated }, state: { waiting: { reason, message: value } } };
  const status = {
    initContainerStatuses: [{ ...container, name: 'restore-datadir' }],
    containerStatuses: [{ ...container, name: 'etcd' }],
  };
  const metadata = { ...pod.metadata, uid: 'p', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { pod: { ...pod, metadata, status } as unknown as Stored<Pod>, blueprint };
}

const sources = [
  { secretKeyRef: { name: 'prod', key: 'password' } },
  { fileKeyRef: { path: 'x', key: 'y', volumeName: 'z' } },
  { someFutureRef: {} },
];

describe.each(['coreos', 'improbable'] as const)('a pod of the %s API with a variable from a Secret', (api) => {
  it.each(sources)('has no output in messages: %j', async (source) => {
    const { pod, blueprint } = podThatPrints(api, source, 'RunContainerError');
    const withoutInit = { ...pod, status: { ...pod.status, initContainerStatuses: [] } } as Stored<Pod>;
    const messages = JSON.stringify([
      memberPodsOf({ pods: [pod], claims: [] }, blueprint),
      memberPodsOf({ pods: [withoutInit], claims: [] }, blueprint),
      await stateOfSeed(pod, false, {}),
      agentStateOf(pod),
    ]);
    expect(messages).not.toContain(value);
    expect(messages).toContain('kubectl logs db-0 -c etcd --previous');
    expect(messages).toContain('ended with 1');
  });

  it('has the messages of the kubelet', () => {
    const { pod, blueprint } = podThatPrints(api, sources[0] ?? {}, 'CreateContainerConfigError');
    expect(memberPodsOf({ pods: [pod], claims: [] }, blueprint)[0]?.why).toContain(
      `CreateContainerConfigError: ${value}`,
    );
  });

  it('has its whole output in messages if no variable comes from a Secret', () => {
    const { pod, blueprint } = podThatPrints(api, { fieldRef: { fieldPath: 'metadata.name' } });
    expect(memberPodsOf({ pods: [pod], claims: [] }, blueprint)[0]?.why).toContain(`unrecognized: ${value}`);
  });
});
