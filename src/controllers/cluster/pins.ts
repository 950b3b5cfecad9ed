import type { ReadCluster } from '../../dialects/dialect.ts';
import type { Pod, Stored } from '../../kube/object.ts';

const digest = /@sha256:[0-9a-f]{64}$/;

/**
 * The spec knows the digest of its own version only. Members of another version, on the way from the spec before, keep the digest
 * that pods of that version have: a member that joins or restarts meanwhile runs the image that the others run.
 */
export function keepingPins(read: ReadCluster, pods: readonly Stored<Pod>[]): ReadCluster {
  const { intent } = read.blueprint;
  const pinned = pods.map(imageIn).filter((image) => digest.test(image));
  if (pinned.length === 0) return read;
  const imageOf = (version: string): string => {
    const image = intent.imageOf(version);
    if (version === intent.version) return image;
    return mostOf(pinned.filter((each) => each.replace(digest, '') === image)) ?? image;
  };
  return { ...read, blueprint: { ...read.blueprint, intent: { ...intent, imageOf } } };
}

const imageIn = ({ spec }: Stored<Pod>): string => spec?.containers?.find(({ name }) => name === 'etcd')?.image ?? '';

function mostOf(images: readonly string[]): string | undefined {
  const count = (image: string): number => images.filter((each) => each === image).length;
  return images.toSorted((a, b) => count(b) - count(a) || (a < b ? -1 : 1))[0];
}
