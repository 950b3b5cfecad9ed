import { Refusal } from '../refusal.ts';
import type { Answer, Call } from '../verbs/call.ts';

export function apply(_call: Call): Answer {
  throw new Refusal(415, 'UnsupportedMediaType', { message: 'not yet' });
}
