import { X509Certificate } from 'node:crypto';
import type { Bundle, Holder, Keyring } from '../../core/certificates/bundle.ts';
import { ports } from '../../core/model/template.ts';
import { shownCertificate } from '../../etcd/shown-certificate.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { CertificatesSeen } from './certificates.ts';
import type { Tools } from './sources.ts';

const portOf: Readonly<Partial<Record<Holder, number>>> = { peer: ports.peer, server: ports.client };

/** Whether every pod shows the certificates that are kept, on every port that has any. Who cannot be seen does not. */
export async function isShownByAll(
  members: readonly Stored<Pod>[],
  { bundle, inUse }: Pick<CertificatesSeen, 'bundle' | 'inUse'>,
  { wayTo }: Pick<Tools, 'wayTo'>,
): Promise<boolean> {
  const looks = members.flatMap((pod) =>
    inUse.map((holder) => isShownBy(pod, { holder, bundle: bundle ?? {}, wayTo })),
  );
  return (await Promise.all(looks)).every(Boolean);
}

interface Look {
  readonly holder: Holder;
  readonly bundle: Bundle;
  readonly wayTo: Tools['wayTo'];
}

async function isShownBy({ metadata, status }: Stored<Pod>, { holder, bundle, wayTo }: Look): Promise<boolean> {
  const [keyring, port, host] = [bundle[holder], portOf[holder], status?.podIP];
  if (keyring === undefined || port === undefined || host === undefined) return false;
  const dial = { host, port };
  const shown = shownCertificate(
    { dial, way: wayTo?.(metadata, dial), tls: tlsOf(keyring) },
    AbortSignal.timeout(2_000),
  );
  return shown.then(
    (fingerprint) => fingerprint === new X509Certificate(keyring.certificate).fingerprint256,
    (thrown: unknown) => {
      if (Failure.from(thrown).kind === 'bug') throw thrown;
      return false;
    },
  );
}

const tlsOf = ({ certificate, key, authorities }: Keyring) => ({ ca: authorities.join('\n'), cert: certificate, key });
