import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { contract, done, type Json, refusal } from './support.ts';

const { create, patch, namespace } = contract('pod-security');

const label = 'pod-security.kubernetes.io/enforce';
const one = { name: 'one', image: 'busybox' };
const safe = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const pod = (spec: object): Json => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
const dryRun = (spec: object) => create(pod(spec), '&dryRun=All');

/** The message with which the server rejects a pod. */
const refusalOf = async (spec: object): Promise<string> =>
  (await refusal(dryRun(spec))).replace(/^pods "p" is forbidden: /, '');

/** Sets the enforced Pod Security level and waits until the server applies it. */
async function admitOnly(level: string): Promise<void> {
  await done(patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { [label]: level } } }));
  const unsafe = { hostPID: true, containers: [one] };
  await until(
    `only ${level} pods are admitted`,
    async () => (await refusalOf(unsafe)).includes(`PodSecurity "${level}:latest"`) || undefined,
  );
}

describe('a namespace that enforces the restricted level', () => {
  beforeAll(() => admitOnly('restricted'));

  it('rejects a pod without securityContext and lists every violation', async () => {
    expect(await refusalOf({ containers: [one] })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'allowPrivilegeEscalation != false (container "one" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "one" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "one" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "one" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });

  it('names every container that violates the level', async () => {
    const containers = [
      { ...one, securityContext: safe },
      { ...one, name: 'two' },
    ];
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const initContainers = [{ ...one, name: 'first' }];
    expect(await refusalOf({ securityContext, initContainers, containers })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'allowPrivilegeEscalation != false (containers "first", "two" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (containers "first", "two" must set securityContext.capabilities.drop=["ALL"])',
    );
  });

  it('rejects runAsUser 0, hostNetwork and hostPath volumes', async () => {
    const volumes = [{ name: 'host', hostPath: { path: '/' } }];
    const containers = [{ ...one, securityContext: { ...safe, runAsUser: 0 } }];
    expect(await refusalOf({ hostNetwork: true, volumes, containers })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'host namespaces (hostNetwork=true), ' +
        'restricted volume types (volume "host" uses restricted volume type "hostPath"), ' +
        'runAsUser=0 (container "one" must not set runAsUser=0)',
    );
  });

  it('admits a pod that meets the level', async () => {
    expect(await done(dryRun({ containers: [{ ...one, securityContext: safe }] }))).toMatchObject({ kind: 'Pod' });
  });
});

describe('a namespace that enforces the baseline level', () => {
  beforeAll(() => admitOnly('baseline'));

  it('admits a pod without securityContext', async () => {
    expect(await done(dryRun({ containers: [one] }))).toMatchObject({ kind: 'Pod' });
  });

  it('rejects privileged containers and host namespaces', async () => {
    expect(await refusalOf({ hostPID: true, containers: [{ ...one, securityContext: { privileged: true } }] })).toBe(
      'violates PodSecurity "baseline:latest": host namespaces (hostPID=true), ' +
        'privileged (container "one" must not set securityContext.privileged=true)',
    );
  });
});
