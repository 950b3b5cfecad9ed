import { describe, expect, it } from 'vitest';
import { memberPod } from '../../core/desired/pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { carriersOf } from '../cluster/carriers.ts';
import { stateOfSeed } from '../restore/seed-state.ts';
import { stateOf } from './agent-of-pod.ts';

const value = 'hunter2-of-production';
const name = 'db-0' as CarrierName;

const apis = {
  coreos: (etcdEnv: readonly object[]) => coreos.read(raw({ size: 1, pod: { etcdEnv } })),
  improbable: (etcdEnv: readonly object[]) => improbable.read(raw({ replicas: 1, podTemplate: { etcdEnv } })),
} as const;

const raw = (spec: object) => ({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });

/** A pod whose etcd prints the value, in every place where Kubernetes keeps what a process or a runtime says. */
function podThatPrints(api: keyof typeof apis, valueFrom: object, reason = 'CrashLoopBackOff') {
  const read = apis[api]([{ name: 'ETCD_LOG_LEVEL', valueFrom }]);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  const join = { as: 'founder', of: { members: [name], token: 't' } } as const;
  const pod = memberPod(blueprint, { name, version: blueprint.intent.version, join });
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

describe.each(['coreos', 'improbable'] as const)('a pod of the %s API with a value of a Secret', (api) => {
  it.each(sources)('has nothing of its output told: %j', async (source) => {
    const { pod, blueprint } = podThatPrints(api, source, 'RunContainerError');
    const withoutInit = { ...pod, status: { ...pod.status, initContainerStatuses: [] } } as Stored<Pod>;
    const told = JSON.stringify([
      carriersOf({ pods: [pod], claims: [] }, blueprint),
      carriersOf({ pods: [withoutInit], claims: [] }, blueprint),
      await stateOfSeed(pod, false, {}),
      stateOf(pod),
    ]);
    expect(told).not.toContain(value);
    expect(told).toContain('kubectl logs db-0 -c etcd --previous');
    expect(told).toContain('ended with 1');
  });

  it('says what the kubelet itself says', () => {
    const { pod, blueprint } = podThatPrints(api, sources[0] ?? {}, 'CreateContainerConfigError');
    expect(carriersOf({ pods: [pod], claims: [] }, blueprint)[0]?.why).toContain(
      `CreateContainerConfigError: ${value}`,
    );
  });

  it('is told of in full where no value is of a Secret', () => {
    const { pod, blueprint } = podThatPrints(api, { fieldRef: { fieldPath: 'metadata.name' } });
    expect(carriersOf({ pods: [pod], claims: [] }, blueprint)[0]?.why).toContain(`unrecognized: ${value}`);
  });
});
