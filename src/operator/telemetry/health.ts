import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import type { Runnable } from '../../runtime/manager.ts';
import { type MetricsAccess, refusalOfMetrics } from '../metrics-access.ts';

export interface Health {
  readonly listen: { readonly host: string | undefined; readonly port: number };
  /** What the operator still waits for; empty if it is ready. */
  readonly missing: () => readonly string[];
  /** The watched namespaces and the missing rights, for `/readyz?verbose`. */
  readonly details: () => readonly string[];
  readonly metrics: Registry;
  readonly metricsAccess: MetricsAccess;
}

/** Serves `/readyz`, `/livez` and `/metrics`. */
export const serveHealth =
  ({ listen, missing, details, metrics, metricsAccess }: Health): Runnable =>
  async (signal) => {
    const server = createServer((request, response) => {
      const answer: Answer = (code, text) => {
        response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
      };
      if (request.url?.startsWith('/livez')) return answer(200, 'ok\n');
      if (request.url?.startsWith('/readyz?verbose')) return ready(missing(), answer, details());
      if (request.url?.startsWith('/readyz')) return ready(missing(), answer);
      if (request.url !== '/metrics') return answer(404, 'try /readyz, /livez or /metrics\n');
      const answerMetrics = async (): Promise<void> => {
        const refusal = await refusalOfMetrics(request, metricsAccess);
        if (refusal === undefined) answer(200, await metrics.metrics());
        else answer(refusal.code, refusal.text);
      };
      answerMetrics().catch((error: unknown) => answer(500, `${String(error)}\n`));
    });
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).once('close', resolve);
    server.listen(listen.port, listen.host);
    const stop = (): void => {
      server.close();
      server.closeAllConnections();
    };
    signal.addEventListener('abort', stop, { once: true });
    await ended;
  };

type Answer = (code: number, text: string) => void;

function ready(missing: readonly string[], answer: Answer, details: readonly string[] = []): void {
  const lines = [...(missing.length === 0 ? ['ok'] : missing), ...details];
  answer(missing.length === 0 ? 200 : 500, `${lines.join('\n')}\n`);
}
