import { beforeAll, describe, expect, it } from 'vitest';
import { contract } from './support.ts';

const { kubectl, namespace } = contract('pod-security');

const label = 'pod-security.kubernetes.io/enforce';
const one = { name: 'one', image: 'busybox' };
const safe = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const pod = (spec: object): { input: string } => ({
  input: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }),
});

/** What the server says of a pod that it refuses. */
const refusal = async (spec: object): Promise<string> =>
  (await kubectl.refused('create --dry-run=server -f -', pod(spec))).replace(/^.*pods "p" is forbidden: /s, '').trim();

const admitted = (spec: object): Promise<string> => kubectl('create --dry-run=server -f -', pod(spec));

describe('a namespace that admits only restricted pods', () => {
  beforeAll(() => kubectl(`label namespace ${namespace} --overwrite ${label}=restricted`));

  it('refuses others, and says all that is wrong with them', async () => {
    expect(await refusal({ containers: [one] })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'allowPrivilegeEscalation != false (container "one" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "one" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "one" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "one" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });

  it('names all containers that are at fault', async () => {
    const containers = [
      { ...one, securityContext: safe },
      { ...one, name: 'two' },
    ];
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const initContainers = [{ ...one, name: 'first' }];
    expect(await refusal({ securityContext, initContainers, containers })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'allowPrivilegeEscalation != false (containers "first", "two" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (containers "first", "two" must set securityContext.capabilities.drop=["ALL"])',
    );
  });

  it('refuses root and the files of its node', async () => {
    const volumes = [{ name: 'host', hostPath: { path: '/' } }];
    const containers = [{ ...one, securityContext: { ...safe, runAsUser: 0 } }];
    expect(await refusal({ hostNetwork: true, volumes, containers })).toBe(
      'violates PodSecurity "restricted:latest": ' +
        'host namespaces (hostNetwork=true), ' +
        'restricted volume types (volume "host" uses restricted volume type "hostPath"), ' +
        'runAsUser=0 (container "one" must not set runAsUser=0)',
    );
  });

  it('takes those that are', async () => {
    expect(await admitted({ containers: [{ ...one, securityContext: safe }] })).toContain('pod/p created');
  });
});

describe('a namespace that admits ordinary pods', () => {
  beforeAll(() => kubectl(`label namespace ${namespace} --overwrite ${label}=baseline`));

  it('takes one that asks for nothing', async () => {
    expect(await admitted({ containers: [one] })).toContain('pod/p created');
  });

  it('refuses privileged ones', async () => {
    expect(await refusal({ hostPID: true, containers: [{ ...one, securityContext: { privileged: true } }] })).toBe(
      'violates PodSecurity "baseline:latest": host namespaces (hostPID=true), ' +
        'privileged (container "one" must not set securityContext.privileged=true)',
    );
  });
});
