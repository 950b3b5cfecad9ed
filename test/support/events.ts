import type { CoreEvent, Stored } from '../../src/kube/object.ts';
import type { Within } from './api.ts';
import { watchUntil } from './waits.ts';

interface About {
  readonly reason?: string;
  /** The name of the object that they are about. */
  readonly name?: string;
  readonly type?: 'Warning' | 'Normal';
}

/** Waits until Events say all this: with this reason, about this object. */
export async function eventsSay(within: Within, about: About, parts: readonly string[] = ['']): Promise<void> {
  const isMeant = ({ reason, type, involvedObject: { name } }: CoreEvent): boolean =>
    [about.reason ?? reason, about.type ?? type, about.name ?? name].join() === [reason, type, name].join();
  const answer = (events: readonly Stored<CoreEvent>[]): true | undefined => {
    const messages = events.filter(isMeant).map(({ message = '' }) => message);
    return parts.every((part) => messages.some((message) => message.includes(part))) || undefined;
  };
  const what = `Events ${JSON.stringify(about)} say ${parts.join(', and ')}`;
  await watchUntil<CoreEvent, true>(within, 'events', { what, answer });
}
