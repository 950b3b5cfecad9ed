import type { CoreEvent, Stored } from '../../src/kube/object.ts';
import type { Within } from './api.ts';
import { watchUntil } from './waits.ts';

interface About {
  readonly reason?: string;
  /** The name of the involved object. */
  readonly name?: string;
  readonly type?: 'Warning' | 'Normal';
}

/** Waits until Events with this reason, type and object contain all these texts. */
export async function eventsContain(within: Within, about: About, parts: readonly string[] = ['']): Promise<void> {
  const matches = ({ reason, type, involvedObject: { name } }: CoreEvent): boolean =>
    [about.reason ?? reason, about.type ?? type, about.name ?? name].join() === [reason, type, name].join();
  const answer = (events: readonly Stored<CoreEvent>[]): true | undefined => {
    const messages = events.filter(matches).map(({ message = '' }) => message);
    return parts.every((part) => messages.some((message) => message.includes(part))) || undefined;
  };
  const what = `Events ${JSON.stringify(about)} contain: ${parts.join(', ')}`;
  await watchUntil<CoreEvent, true>(within, 'events', { what, answer });
}
