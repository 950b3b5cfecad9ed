import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Pod } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import type { PodNetwork } from '../../network/pod-network.ts';
import { type ContainerSpec, environmentOf, type Lookup } from '../container/environment.ts';
import { expand } from '../container/expand.ts';
import type { Image, Mount } from '../image/image.ts';
import { mountsOf } from '../volumes/volumes.ts';
import { hostnameOf } from './etc.ts';
import type { StartPlan } from './slot.ts';

/** What a container needs of its pod and of the cluster to be started. */
export interface Surroundings {
  readonly pod: Pod;
  readonly image: Image;
  readonly network: PodNetwork;
  readonly volumes: Readonly<Record<string, string>>;
  /** The pod's own /etc. */
  readonly etc: string;
  readonly terminationFile: string;
  readonly lookup: Lookup;
  /** Variables that every container of the cluster gets. */
  readonly clusterEnvironment: Readonly<Record<string, string>>;
}

/** Everything about one start of a container; read anew each time, since what it is made from may have changed. */
export async function startPlan(spec: ContainerSpec, around: Surroundings): Promise<StartPlan> {
  const { pod, image, network, etc, clusterEnvironment, lookup } = around;
  // The kubelet tells a container its own address even before the API knows it.
  const told = { ...pod, status: { ...pod.status, podIP: network.address } };
  const own = await environmentOf({ pod: told, container: spec, lookup });
  const env = { ...image.env, HOSTNAME: hostnameOf(pod), ...clusterEnvironment, ...own };
  await writeTerminationFile(around.terminationFile);
  const files: readonly Mount[] = [
    { source: etc, target: '/etc', readOnly: false },
    { source: around.terminationFile, target: spec.terminationMessagePath ?? '/dev/termination-log', readOnly: false },
  ];
  return {
    image,
    network: network.file,
    words: wordsOf(spec, image, env),
    env,
    tty: spec.tty ?? false,
    stdin: spec.stdin ?? false,
    stdinOnce: spec.stdinOnce ?? false,
    root: {
      image,
      mounts: [...files, ...mountsOf(spec, around.volumes)],
      hostname: hostnameOf(pod),
      workingDir: spec.workingDir ?? image.workingDir,
      readOnlyRoot: spec.securityContext?.readOnlyRootFilesystem ?? false,
      ...userOf(pod, spec, image),
    },
  };
}

/** The pod's command takes the place of the image's entry point, its args that of the image's command. */
function wordsOf(
  { command, args }: ContainerSpec,
  image: Image,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const has = (words: readonly string[] | undefined): words is readonly string[] => (words?.length ?? 0) > 0;
  const first = has(command) ? command : image.entrypoint;
  const rest = has(args) ? args : has(command) ? [] : image.command;
  return [...first, ...rest].map((word) => expand(word, env));
}

function userOf(pod: Pod, spec: ContainerSpec, image: Image): { readonly user: number; readonly group: number } {
  const merged = { ...pod.spec?.securityContext, ...spec.securityContext };
  const user = merged.runAsUser ?? image.user;
  if (merged.runAsNonRoot === true && user === 0)
    throw new Failure('rejected', 'container has runAsNonRoot and image will run as root');
  return { user, group: merged.runAsGroup ?? (user === 0 ? 0 : user) };
}

/** Made anew for each run, so that nobody reads the last words of another. */
async function writeTerminationFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '', { mode: 0o666 });
}
