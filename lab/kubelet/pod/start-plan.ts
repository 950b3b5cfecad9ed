import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Pod } from '../../../src/kube/object.ts';
import { Failure } from '../../../src/std/failure.ts';
import type { PodNetwork } from '../../network/pod-network.ts';
import { type ContainerSpec, environmentOf, type Lookup } from '../container/environment.ts';
import { expand } from '../container/expand.ts';
import type { Image, Mount } from '../image/image.ts';
import { mountsOf } from '../volumes/volumes.ts';
import type { StartPlan } from './container-runner.ts';
import { hostnameOf } from './etc.ts';

/** What a container needs from its pod and its cluster to start. */
export interface StartContext {
  readonly pod: Pod;
  readonly image: Image;
  readonly network: PodNetwork;
  readonly volumes: Readonly<Record<string, string>>;
  /** The directory of the pod's /etc. */
  readonly etc: string;
  readonly terminationFile: string;
  readonly lookup: Lookup;
  /** The environment variables that every container gets. */
  readonly clusterEnvironment: Readonly<Record<string, string>>;
}

/** Plans one start of a container. Computed anew for each start, since Secrets and ConfigMaps may have changed. */
export async function startPlan(spec: ContainerSpec, context: StartContext): Promise<StartPlan> {
  const { pod, image, network, etc, clusterEnvironment, lookup } = context;
  // The container gets its address even before the API server has it.
  const podWithAddress = { ...pod, status: { ...pod.status, podIP: network.address } };
  const own = await environmentOf({ pod: podWithAddress, container: spec, lookup });
  const env = { ...image.env, HOSTNAME: hostnameOf(pod), ...clusterEnvironment, ...own };
  await writeTerminationFile(context.terminationFile);
  const files: readonly Mount[] = [
    { source: etc, target: '/etc', readOnly: false },
    { source: context.terminationFile, target: spec.terminationMessagePath ?? '/dev/termination-log', readOnly: false },
  ];
  return {
    image,
    network: network.file,
    command: commandOf(spec, image, env),
    env,
    tty: spec.tty ?? false,
    stdin: spec.stdin ?? false,
    stdinOnce: spec.stdinOnce ?? false,
    root: {
      image,
      mounts: [...files, ...mountsOf(spec, context.volumes)],
      hostname: hostnameOf(pod),
      workingDir: spec.workingDir ?? image.workingDir,
      readOnlyRoot: spec.securityContext?.readOnlyRootFilesystem ?? false,
      ...userOf(pod, spec, image),
    },
  };
}

/** The pod's command replaces the image's entrypoint, and its args replace the image's command. */
function commandOf(
  { command, args }: ContainerSpec,
  image: Image,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const has = (words: readonly string[] | undefined): words is readonly string[] => (words?.length ?? 0) > 0;
  const first = has(command) ? command : image.entrypoint;
  const rest = has(args) ? args : has(command) ? [] : image.command;
  return [...first, ...rest].map((argument) => expand(argument, env));
}

function userOf(pod: Pod, spec: ContainerSpec, image: Image): { readonly user: number; readonly group: number } {
  const merged = { ...pod.spec?.securityContext, ...spec.securityContext };
  const user = merged.runAsUser ?? image.user;
  if (merged.runAsNonRoot === true && user === 0)
    throw new Failure('rejected', 'container has runAsNonRoot and image will run as root');
  return { user, group: merged.runAsGroup ?? (user === 0 ? 0 : user) };
}

/** Empties the termination file before each run, so that no message of an earlier run remains. */
async function writeTerminationFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '', { mode: 0o666 });
}
