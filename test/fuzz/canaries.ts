import { type LabApi, namespace } from './lab-api.ts';

/** The value of every key of every Secret. No user may read it without the right to read Secrets. */
export const canary = 'c4n4ry-b1rd-s1ngs';

const hidden = (text: string): Readonly<Record<string, string>> => ({
  plain: text,
  encoded: Buffer.from(text).toString('base64'),
});

const pem = `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n`;
const certificates = ['tls', 'peer', 'server', 'etcd-client'].flatMap((name) => [
  `${name}.crt`,
  `${name}.key`,
  `${name}-ca.crt`,
]);

/** Keys of all Secrets that specs can name. The content is never valid, so every check of a Secret fails. */
const contents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'etcd-user': { username: canary, password: `${canary}\n` },
  'user-secret': { token: canary },
  store: { credentials: `[default]\naws_access_key_id = ${canary}`, 'storage-key': canary, 'access-token': canary },
  ...Object.fromEntries(
    ['peer-tls', 'server-tls', 'client-tls'].map((name) => [
      name,
      Object.fromEntries(['ca.crt', ...certificates].map((key) => [key, pem])),
    ]),
  ),
};

export async function createSecrets(api: LabApi): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    const data = Object.fromEntries(Object.entries(content).map(([key, text]) => [key, hidden(text)['encoded']]));
    await api.post(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name }, data });
  }
  const labels = { 'etcd-operator/backups': 'true' };
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await api.post(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    metadata: { name: 'backups', labels },
    spec,
  });
}

/** True if a text has the value of a Secret, plain or encoded. */
export const hasCanary = (text: string): boolean =>
  Object.values(hidden(canary)).some((form) => text.includes(form.replace(/=+$/, '')));
