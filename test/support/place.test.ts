import { describe, expect, it } from 'vitest';
import { type Place, type Where, whyNotHere } from './place.ts';

const places: readonly Place[] = ['the lab', 'our cluster', 'another cluster'];
const toldOn = (where: Where): readonly Place[] => places.filter((place) => whyNotHere(where, place) === undefined);

describe('a story', () => {
  it('is told in all places, unless it says otherwise', () => {
    expect(toldOn('everywhere')).toEqual(places);
  });

  it('may need a cluster, or ours', () => {
    expect(toldOn('on clusters')).toEqual(['our cluster', 'another cluster']);
    expect(toldOn('on our cluster')).toEqual(['our cluster']);
  });

  it('may stop nodes where they are ours', () => {
    expect(toldOn('with nodes')).toEqual(['the lab', 'our cluster']);
  });

  it('says why it is left out', () => {
    expect(whyNotHere('on our cluster', 'the lab')).toBe('needs our own test cluster');
  });
});
