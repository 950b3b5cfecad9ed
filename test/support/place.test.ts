import { describe, expect, it } from 'vitest';
import { type Place, type Where, whyNotHere } from './place.ts';

const places: readonly Place[] = [
  'the lab',
  'the lab, in a hurry',
  'our cluster',
  'our cluster, after the lab',
  'another cluster',
];
const toldOn = (where: Where): readonly Place[] => places.filter((place) => whyNotHere(where, place) === undefined);

describe('a story', () => {
  it('is told in all places, unless it says otherwise', () => {
    expect(toldOn('everywhere')).toEqual(places);
  });

  it('is left out for its length only where somebody is in a hurry', () => {
    expect(toldOn('in full')).toEqual(places.filter((place) => place !== 'the lab, in a hurry'));
  });

  it('is told once where the lab is as good', () => {
    expect(toldOn('as on the lab')).toEqual(['the lab', 'our cluster', 'another cluster']);
  });

  it('may need a cluster, or ours', () => {
    expect(toldOn('on clusters')).toEqual(['our cluster', 'our cluster, after the lab', 'another cluster']);
    expect(toldOn('on our cluster')).toEqual(['our cluster', 'our cluster, after the lab']);
  });

  it('may stop nodes where they are ours', () => {
    expect(toldOn('with nodes')).toEqual(['the lab', 'our cluster', 'our cluster, after the lab']);
  });

  it('says why it is left out', () => {
    expect(whyNotHere('on our cluster', 'the lab')).toBe('needs our own test cluster');
  });
});
