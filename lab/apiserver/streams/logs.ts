import { pipeline } from 'node:stream/promises';
import type { LogRequest } from '../../streams.ts';
import type { RequestTarget } from '../http/paths.ts';
import type { Response } from '../http/respond.ts';
import { timeOf } from '../object.ts';
import type { ServerState } from '../state.ts';
import { badRequest } from '../status-error.ts';
import { findContainer } from './find.ts';

export interface LogContext {
  readonly state: ServerState;
  readonly target: RequestTarget;
  readonly query: URLSearchParams;
  readonly response: Response;
}

/** Serves the log of a container. */
export async function serveLogs({ state, target, query, response }: LogContext): Promise<void> {
  const { container, node } = findContainer(state, target, query);
  const logs = await node.logs(container, requestOf(query)).catch((error: unknown) => {
    throw badRequest(error instanceof Error ? error.message : String(error));
  });
  response.statusCode = 200;
  response.setHeader('content-type', 'text/plain');
  response.flushHeaders();
  response.once('close', () => logs.destroy());
  await pipeline(logs, response).catch(() => undefined); // a client that leaves is no failure
}

function requestOf(query: URLSearchParams): LogRequest {
  const since = query.get('sinceSeconds');
  const sinceTime = since === null ? query.get('sinceTime') : timeOf(new Date(Date.now() - Number(since) * 1000));
  return {
    follow: query.get('follow') === 'true',
    previous: query.get('previous') === 'true',
    timestamps: query.get('timestamps') === 'true',
    ...numberIn(query, 'tailLines'),
    ...numberIn(query, 'limitBytes'),
    ...(sinceTime !== null && { sinceTime }),
  };
}

const numberIn = (query: URLSearchParams, name: string): Record<string, number> =>
  query.has(name) ? { [name]: Number(query.get(name)) } : {};
