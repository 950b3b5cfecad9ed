import type { Identity } from '../pki.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The text of a kubeconfig. It is JSON, which is valid YAML. */
export const kubeconfigOf = (url: string, ca: string, { certificate, key }: Identity): string =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'lab', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
      users: [
        { name: 'admin', user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } },
      ],
      contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'admin' } }],
      'current-context': 'lab',
    },
    null,
    2,
  )}\n`;
