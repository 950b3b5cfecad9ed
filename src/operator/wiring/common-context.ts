import type { SecretCache } from '../../controllers/cluster/tls/secret-cache.ts';
import type { ControllerContext } from '../../controllers/shared/context.ts';
import { type WriterOptions, writerFor } from '../../controllers/shared/writer.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Controller } from '../../runtime/controller.ts';
import { recordOnce } from '../record-once.ts';
import type { Log } from '../telemetry/log.ts';

/** The part of the context that is the same for all kinds. */
export interface CommonContext
  extends Pick<ControllerContext, 'secrets' | 'writer' | 'caughtUp' | 'now' | 'recordEvent' | 'log'> {
  readonly client: KubeClient;
}

interface Options extends Pick<WriterOptions, 'storeOf' | 'agentNamespace'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: SecretCache;
  /** Called after the status of the key was written. */
  readonly onStatus?: (key: string) => void;
}

export function commonContext(controller: Controller, options: Options): CommonContext {
  const { client, expectations, recorder, memories } = controller;
  const { clock, log, secrets, storeOf, agentNamespace, onStatus } = options;
  return {
    client,
    secrets,
    writer: (key) =>
      writerFor(key, {
        client,
        expectations,
        storeOf,
        agentNamespace,
        onStatus: () => onStatus?.(key),
        onSecret: () => secrets.forget(key),
      }),
    caughtUp: (key) => expectations.caughtUp(key),
    now: clock.now,
    recordEvent: recordOnce((about, event) => recorder.record(about, event), clock, memories),
    log: (level, message, fields) => log[level](fields, message),
  };
}
