import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../tools/lib/run.ts';
import type { StoryContext } from './story.ts';

/** A volume created by hand: a small file system on one node. */
export interface Volume {
  readonly name: string;
  readonly node: string;
  readonly megabytes: number;
  /** A script that prepares the content. It runs in the directory of the volume. */
  readonly prepare?: string;
}

/** Volumes of a StorageClass with the name of the namespace. They are removed at the end of the story. */
export class HandMadeVolumes implements AsyncDisposable {
  readonly storageClass: string;
  readonly #story: StoryContext;
  readonly #undo: (() => Promise<unknown>)[] = [];

  constructor(story: StoryContext) {
    this.#story = story;
    this.storageClass = story.namespace;
  }

  async provide(volume: Volume): Promise<void> {
    const { kubectl, nodes, namespace } = this.#story;
    const path = `/var/lib/${namespace}/${volume.name}`;
    const script = `mkdir -p ${path}; mount "$DEVICE" ${path}; cd ${path}; ${volume.prepare ?? 'true'}`;
    await withDevice(volume.megabytes, (device) => nodes.shell(volume.node, `DEVICE=${device}; ${script}`));
    this.#undo.unshift(() => nodes.shell(volume.node, `umount -l ${path}`));
    const manifest = persistentVolume(volume, { path, storageClass: this.storageClass });
    await kubectl('apply -f -', { input: JSON.stringify(manifest) });
    this.#undo.unshift(() => kubectl(`delete persistentvolume ${manifest.metadata.name} --wait=false`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo) await undo();
  }
}

/** A loop device on a file of this size. The kernel frees both after the file system is unmounted. */
async function withDevice(megabytes: number, mount: (device: string) => Promise<unknown>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'volume-'));
  try {
    const file = join(directory, 'image');
    await run('truncate', ['-s', `${megabytes}M`, file]);
    await run('mkfs.ext4', ['-q', '-F', file]);
    const device = (await run('losetup', ['--find', '--show', file])).trim();
    try {
      await mount(device);
    } finally {
      await run('losetup', ['--detach', device]);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

interface VolumeLocation {
  readonly path: string;
  readonly storageClass: string;
}

const persistentVolume = ({ name, node }: Volume, { path, storageClass }: VolumeLocation) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `${storageClass}-${name}` },
  spec: {
    capacity: { storage: '64Mi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: storageClass,
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
      },
    },
  },
});
