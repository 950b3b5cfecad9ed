import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { Pod, Stored } from '../../../kube/object.ts';

const digest = /@sha256:[0-9a-f]{64}$/;

/**
 * The spec names a digest only for its own version. During an upgrade, members of the old version keep the digest that
 * most pods of that version have, so that a joining or restarting member runs the same image.
 */
export function keepImageDigests(read: ReadCluster, pods: readonly Stored<Pod>[]): ReadCluster {
  const { intent } = read.blueprint;
  const pinned = pods.map(imageIn).filter((image) => digest.test(image));
  if (pinned.length === 0) return read;
  const imageOf = (version: string): string => {
    const image = intent.imageOf(version);
    if (version === intent.version) return image;
    return mostFrequent(pinned.filter((each) => each.replace(digest, '') === image)) ?? image;
  };
  return { ...read, blueprint: { ...read.blueprint, intent: { ...intent, imageOf } } };
}

const imageIn = ({ spec }: Stored<Pod>): string => spec?.containers?.find(({ name }) => name === 'etcd')?.image ?? '';

function mostFrequent(images: readonly string[]): string | undefined {
  const count = (image: string): number => images.filter((each) => each === image).length;
  return images.toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1))[0];
}
