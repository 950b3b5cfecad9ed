import { describe, expect, it } from 'vitest';
import { type Place, skipReasonIn, type Where } from './place.ts';

const places: readonly Place[] = ['the lab', 'our cluster', 'another cluster'];
const placesFor = (where: Where): readonly Place[] =>
  places.filter((place) => skipReasonIn(where, place) === undefined);

describe('a story', () => {
  it('runs everywhere by default', () => {
    expect(placesFor('everywhere')).toEqual(places);
  });

  it('can be limited to real clusters, or to our test cluster', () => {
    expect(placesFor('on clusters')).toEqual(['our cluster', 'another cluster']);
    expect(placesFor('on our cluster')).toEqual(['our cluster']);
  });

  it('that stops nodes runs on the lab and on our test cluster', () => {
    expect(placesFor('with nodes')).toEqual(['the lab', 'our cluster']);
  });

  it('has a reason if it is left out', () => {
    expect(skipReasonIn('on our cluster', 'the lab')).toBe('needs our own test cluster');
  });
});
