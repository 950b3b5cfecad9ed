import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import type { Turns } from './story-turns.ts';

/** Starts the longest story files first, so that no worker runs a long file at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turns = process.env['STORIES_TURNS'];
    if (turns === undefined || turns === '') return super.sort(files);
    const { seconds } = JSON.parse(readFileSync(turns, 'utf8')) as Turns;
    const secondsOf = ({ moduleId }: TestSpecification): number => seconds[basename(moduleId)] ?? 0;
    return files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
