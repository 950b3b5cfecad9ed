import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { patch } from './api.ts';
import { type Api, coreos } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import type { StoryContext } from './story.ts';
import { inSeconds, rolledOut, waitFor, waitForDeletion } from './waits.ts';

const deployment = 'deployment/etcd-operator';
const examples = join(import.meta.dirname, '../../examples');

/** A shipped manifest for the namespace of the story, by default of the coreos API. */
export const example = (file: string, namespace: string, api = 'coreos'): string =>
  readFileSync(join(examples, api, file), 'utf8').replaceAll('namespace: default', `namespace: ${namespace}`);

/** The manifest with the operator image under test. The image is always pulled, because its tag does not change. */
export const underTest = (manifest: string): string =>
  manifest
    .replace('imagePullPolicy: IfNotPresent', 'imagePullPolicy: Always')
    .replace(/image: etcd-operator:.*/, `image: ${imageUnderTest()}`);

/** The operator image under test. */
export function imageUnderTest(): string {
  const { IMAGE: given, TEST_CLUSTER: ours } = process.env;
  if (given) return given;
  if (ours) return 'etcd-operator:latest';
  throw new Error(
    'Set IMAGE to an operator image that this cluster can pull. To build one, use make image-tree and the Dockerfile.',
  );
}

interface Installation {
  /** Replaces the shipped Role. */
  readonly role?: string;
  /** Added to the flags of the shipped Deployment. */
  readonly flags?: readonly string[];
  /** Whether to wait until the Deployment is rolled out. */
  readonly ready?: boolean;
}

/** Installs the operator in the namespace of the story with the shipped ServiceAccount, Role and Deployment, or with changes. */
export async function installOperator(
  { kubectl, namespace }: Pick<StoryContext, 'kubectl' | 'namespace'>,
  { role, flags = [], ready = true }: Installation = {},
): Promise<void> {
  const part = (name: string): string => example(`etcd-operator-${name}.yaml`, namespace);
  const program = withFlags(underTest(part('deployment')), flags);
  await install([part('sa'), role ?? part('role'), part('rolebinding'), program], kubectl, ready);
}

/** Installs the operator for one API, with the shipped manifests of that API or with another Role or more flags. */
export async function installFor(
  api: Api,
  { kubectl, namespace }: Pick<StoryContext, 'kubectl' | 'namespace'>,
  { role, flags = [] }: Pick<Installation, 'role' | 'flags'> = {},
): Promise<void> {
  const part = (name: string): string => example(`etcd-operator-${name}.yaml`, namespace, api.name);
  const manifests = [part('sa'), role ?? part('role'), part('rolebinding'), withFlags(part('deployment'), flags)];
  await install(manifests.map(underTest), kubectl);
}

/** Installs one operator for both APIs: one ServiceAccount with the Roles of both. */
export async function installForBoth({
  kubectl,
  namespace,
}: Pick<StoryContext, 'kubectl' | 'namespace'>): Promise<void> {
  const renamed = (part: string): string =>
    example(`etcd-operator-${part}.yaml`, namespace, 'improbable')
      .replace(/name: etcd-operator-rolebinding/, 'name: other-rolebinding')
      .replace(/name: etcd-operator-role$/m, 'name: other-role');
  for (const input of [renamed('role'), renamed('rolebinding')]) await kubectl('apply -f -', { input });
  await installFor(coreos, { kubectl, namespace });
}

async function install(manifests: readonly string[], kubectl: Kubectl, ready = true): Promise<void> {
  await kubectl('apply -f -', { input: manifests.join('\n---\n') });
  if (ready) await waitFor(kubectl, deployment, inSeconds(90, rolledOut));
}

/** A shipped Deployment with more flags. */
export const withFlags = (manifest: string, flags: readonly string[]): string =>
  manifest.replace(/^( *)- --create-crd=false$/m, ['$&', ...flags.map((flag) => `$1- ${flag}`)].join('\n'));

/** Scales the operator Deployment, and waits until its pods are gone or rolled out. */
export async function scaleOperator({ kubectl }: Pick<StoryContext, 'kubectl'>, replicas: number): Promise<void> {
  await patch(kubectl, deployment, { spec: { replicas } });
  if (replicas === 0) await waitForDeletion(kubectl, 'pods -l name=etcd-operator');
  else await waitFor(kubectl, deployment, rolledOut);
}
