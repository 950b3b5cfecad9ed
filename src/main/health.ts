import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import type { Runnable } from '../runtime/manager.ts';

export interface Health {
  readonly listen: { readonly host: string; readonly port: number };
  /** What is still missing before the operator looks after clusters; empty when nothing is. */
  readonly missing: () => readonly string[];
  readonly metrics: Registry;
}

/** Serves `/readyz`, `/livez` and `/metrics`. */
export const serveHealth =
  ({ listen, missing, metrics }: Health): Runnable =>
  async (signal) => {
    const server = createServer((request, response) => {
      const answer = (code: number, text: string): void => {
        response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
      };
      if (request.url?.startsWith('/livez')) return answer(200, 'ok\n');
      if (request.url?.startsWith('/readyz')) return ready(missing(), answer);
      if (request.url !== '/metrics') return answer(404, 'try /readyz, /livez or /metrics\n');
      void metrics.metrics().then((text) => answer(200, text));
    });
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).once('close', resolve);
    server.listen(listen.port, listen.host);
    signal.addEventListener('abort', () => server.close(), { once: true });
    await ended;
  };

const ready = (missing: readonly string[], answer: (code: number, text: string) => void): void =>
  missing.length === 0 ? answer(200, 'ok\n') : answer(500, `${missing.join('\n')}\n`);
