import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { patch } from './api.ts';
import { type Api, coreos } from './apis.ts';
import type { Kubectl } from './kubectl.ts';
import type { Story } from './story.ts';
import { inSeconds, rolledOut, waitFor, waitForDeletion } from './waits.ts';

const deployment = 'deployment/etcd-operator';
const examples = join(import.meta.dirname, '../../examples');

/** A manifest as shipped, the book's where no other API is named, for use in the story's namespace. */
export const example = (file: string, namespace: string, api = 'coreos'): string =>
  readFileSync(join(examples, api, file), 'utf8').replaceAll('namespace: default', `namespace: ${namespace}`);

/** The operator's image under test, pulled anew: its tag does not change while we work on it. */
export const underTest = (manifest: string): string =>
  manifest
    .replace('imagePullPolicy: IfNotPresent', 'imagePullPolicy: Always')
    .replace(/image: etcd-operator:.*/, `image: ${imageUnderTest()}`);

/** The image of the operator that is told of. */
export function imageUnderTest(): string {
  const { IMAGE: given, TEST_CLUSTER: ours } = process.env;
  if (given) return given;
  if (ours) return 'etcd-operator:latest';
  throw new Error(
    'Set IMAGE to an image of the operator that this cluster can pull; make image-tree and the Dockerfile make one.',
  );
}

interface Installation {
  /** Instead of the shipped one. */
  readonly role?: string;
  /** Besides those of the shipped Deployment. */
  readonly flags?: readonly string[];
  /** Whether to wait until it serves. */
  readonly ready?: boolean;
}

/** Installs the operator in the story's namespace with exactly the shipped account, Deployment and Role, or others. */
export async function installOperator(
  { kubectl, namespace }: Pick<Story, 'kubectl' | 'namespace'>,
  { role, flags = [], ready = true }: Installation = {},
): Promise<void> {
  const part = (name: string): string => example(`etcd-operator-${name}.yaml`, namespace);
  const program = withFlags(underTest(part('deployment')), flags);
  await install([part('sa'), role ?? part('role'), part('rolebinding'), program], kubectl, ready);
}

/** The same for one API, as it is shipped for that one alone, or with another Role or more flags. */
export async function installFor(
  api: Api,
  { kubectl, namespace }: Pick<Story, 'kubectl' | 'namespace'>,
  { role, flags = [] }: Pick<Installation, 'role' | 'flags'> = {},
): Promise<void> {
  const part = (name: string): string => example(`etcd-operator-${name}.yaml`, namespace, api.name);
  const manifests = [part('sa'), role ?? part('role'), part('rolebinding'), withFlags(part('deployment'), flags)];
  await install(manifests.map(underTest), kubectl);
}

/** The same for both at once: the Roles of either, bound to one account, and the Deployment that serves what it may see. */
export async function installForBoth({ kubectl, namespace }: Pick<Story, 'kubectl' | 'namespace'>): Promise<void> {
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

/** A Deployment of ours with more flags than it is shipped with. */
export const withFlags = (manifest: string, flags: readonly string[]): string =>
  manifest.replace(/^( *)- --create-crd=false$/m, ['$&', ...flags.map((flag) => `$1- ${flag}`)].join('\n'));

/** Stops the operator, as `kubectl scale` does, or starts it again. */
export async function scaleOperator({ kubectl }: Pick<Story, 'kubectl'>, replicas: number): Promise<void> {
  await patch(kubectl, deployment, { spec: { replicas } });
  if (replicas === 0) await waitForDeletion(kubectl, 'pods -l name=etcd-operator');
  else await waitFor(kubectl, deployment, rolledOut);
}
