import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../tools/lib/run.ts';
import type { Story } from './story.ts';

/** A volume that somebody made by hand: a small file system of its own on one node. */
export interface Volume {
  readonly name: string;
  readonly node: string;
  readonly megabytes: number;
  /** What is on it before anybody uses it: a script that runs in its directory. */
  readonly prepare?: string;
}

/** Volumes of the storage class that has the namespace's name, for as long as the story lasts. */
export class HandMadeVolumes implements AsyncDisposable {
  readonly storageClass: string;
  readonly #story: Story;
  readonly #undo: (() => Promise<unknown>)[] = [];

  constructor(story: Story) {
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

/** A disk of that size, kept in a file. Both are gone by themselves when what was mounted meanwhile is so no longer. */
async function withDevice(megabytes: number, mount: (device: string) => Promise<unknown>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'volume-'));
  try {
    const file = join(directory, 'disk');
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

interface Place {
  readonly path: string;
  readonly storageClass: string;
}

const persistentVolume = ({ name, node }: Volume, { path, storageClass }: Place) => ({
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
