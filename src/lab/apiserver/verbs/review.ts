import type { Answer, Call } from './call.ts';
import { noSuchPath } from '../refusal.ts';

export function review(_call: Call): Answer {
  throw noSuchPath();
}
