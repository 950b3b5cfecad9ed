import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { keepImageDigests } from './image-digests.ts';

const [a, b, c] = ['a', 'b', 'c'].map((letter) => `sha256:${letter.repeat(64)}`);
const etcd = 'quay.io/coreos/etcd';
const runs = (name: string, image: string) => ({
  ...samplePod(name, 1),
  spec: { containers: [{ name: 'etcd', image }] },
});

const imageOf = (spec: object, images: readonly string[]) => {
  const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3, ...spec } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const pods = images.map((image, index) => runs(`db-${index}`, image));
  return keepImageDigests(read.value, pods).blueprint.intent.imageOf;
};

describe('the image of a version that the spec no longer names', () => {
  it('is the image with the digest that most of its members run', () => {
    const images = [`${etcd}:v3.5.35@${a}`, `${etcd}:v3.5.35@${b}`, `${etcd}:v3.5.35@${b}`];
    for (const version of [`3.6.16@${c}`, '3.6.16']) expect(imageOf({ version }, images)('3.5.35')).toBe(images[1]);
  });

  it('is named by tag if no member has a digest of it', () => {
    const images = [`${etcd}:v3.5.35`, `elsewhere/etcd:v3.5.35@${a}`, `${etcd}:v3.6.16@${a}`];
    expect(imageOf({ version: `3.6.16@${c}` }, images)('3.5.35')).toBe(`${etcd}:v3.5.35`);
  });
});

it('the image of the version in the spec is that of the spec, whichever images members run', () => {
  const images = [`${etcd}:v3.5.35@${a}`];
  expect(imageOf({ version: `3.5.35@${b}` }, images)('3.5.35')).toBe(`${etcd}:v3.5.35@${b}`);
  expect(imageOf({ version: '3.5.35' }, images)('3.5.35')).toBe(`${etcd}:v3.5.35`);
});
