import { X509Certificate } from 'node:crypto';
import { ports } from '../../../core/cluster/model/template.ts';
import type { Bundle, Holder, Keyring } from '../../../core/pki/bundle.ts';
import { servedCertificate } from '../../../etcd/served-certificate.ts';
import type { Pod, Stored } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { CertificatesSeen } from './member-bundle.ts';

const portOf: Readonly<Partial<Record<Holder, number>>> = { peer: ports.peer, server: ports.client };

/**
 * True if every pod serves the certificates of the bundle on every TLS port. Unreachable pods count as not serving it.
 */
export async function isServedByAll(
  members: readonly Stored<Pod>[],
  { bundle, inUse }: Pick<CertificatesSeen, 'bundle' | 'inUse'>,
  { dialerTo }: Pick<ControllerContext, 'dialerTo'>,
): Promise<boolean> {
  const checks = members.flatMap((pod) =>
    inUse.map((holder) => isServedBy(pod, { holder, bundle: bundle ?? {}, dialerTo })),
  );
  return (await Promise.all(checks)).every(Boolean);
}

interface Check {
  readonly holder: Holder;
  readonly bundle: Bundle;
  readonly dialerTo: ControllerContext['dialerTo'];
}

async function isServedBy({ metadata, status }: Stored<Pod>, { holder, bundle, dialerTo }: Check): Promise<boolean> {
  const [keyring, port, host] = [bundle[holder], portOf[holder], status?.podIP];
  if (keyring === undefined || port === undefined || host === undefined) return false;
  const dial = { host, port };
  const served = servedCertificate(
    { dial, dialer: dialerTo?.(metadata, dial), tls: tlsOf(keyring) },
    AbortSignal.timeout(2_000),
  );
  return served.then(
    (fingerprint) => fingerprint === new X509Certificate(keyring.certificate).fingerprint256,
    (thrown: unknown) => {
      if (Failure.from(thrown).kind === 'bug') throw thrown;
      return false;
    },
  );
}

const tlsOf = ({ certificate, key, authorities }: Keyring) => ({ ca: authorities.join('\n'), cert: certificate, key });
