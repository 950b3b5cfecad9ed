import { type Api, coreos, improbable } from './apis.ts';
import { type StoryContext, story } from './story.ts';

/**
 * Declares a story for both APIs: for the coreos API with `declareStory`, for the improbable API with `story.asOnTheLab`. The
 * coreos story covers the shared behaviour on a real cluster.
 */
export function inBothApis(
  declareStory: typeof story.inFull,
  title: string,
  run: (api: Api, context: StoryContext) => Promise<void>,
): void {
  declareStory(title, (context) => run(coreos, context));
  story.asOnTheLab(`${title}, in the improbable API`, (context) => run(improbable, context));
}
