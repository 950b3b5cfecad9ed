import { type Api, coreos, improbable } from './apis.ts';
import { type Story, story } from './story.ts';

/**
 * One story, told of both APIs: of the book's where `tell` says, and of the other one on the lab. What they have in common
 * is shown on a cluster by the first.
 */
export function inBothApis(
  tell: typeof story.inFull,
  title: string,
  telling: (api: Api, told: Story) => Promise<void>,
): void {
  tell(title, (told) => telling(coreos, told));
  story.asOnTheLab(`${title}, in the API of the talk`, (told) => telling(improbable, told));
}
