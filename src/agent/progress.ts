import { createServer } from 'node:http';
import type { ByteStream } from '../objectstore/store.ts';

/** Progress of a running agent. */
export class Progress {
  readonly #began = performance.now();
  #phase = 'starting';
  #bytes = 0;
  #total: number | undefined;

  enter(phase: string, total?: number): void {
    this.#phase = phase;
    this.#total = total;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get seconds(): number {
    return Math.round(performance.now() - this.#began) / 1000;
  }

  /** Counts the bytes of a body while passing it on. */
  async *counting(body: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const part of body) {
      this.#bytes += part.byteLength;
      yield part;
    }
  }

  report(): Readonly<Record<string, unknown>> {
    const bytesPerSecond = Math.round(this.#bytes / Math.max(this.seconds, 0.001));
    const total = this.#total === undefined ? {} : { totalBytes: this.#total };
    return { phase: this.#phase, bytes: this.#bytes, ...total, seconds: this.seconds, bytesPerSecond };
  }
}

/** Serves the progress over HTTP. If the port is in use, the agent runs without it. */
export function serveProgress(port: number | undefined, progress: Progress): Disposable {
  if (port === undefined) return { [Symbol.dispose]: () => {} };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(progress.report())}\n`);
  });
  server.on('error', (error) => process.stderr.write(`progress is not served: ${error.message}\n`));
  server.listen(port);
  server.unref();
  return {
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
