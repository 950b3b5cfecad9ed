import { expect } from 'vitest';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installOperator } from '../support/operator.ts';
import { certificatesServed, podUidsAndRestarts } from '../support/served-certificates.ts';
import { type StoryContext, story } from '../support/story.ts';
import {
  type Certificates,
  certificatesFor,
  clientAccessIn,
  type SecretFile,
  secretFiles,
  tlsOf,
  waitForSoleCa,
} from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
const extra = { TLS: tlsOf('db', ['peer', 'client']) };
const day = 24 * 3600 * 1000;

interface ClusterWithTls {
  readonly db: DeclaredCluster;
  readonly certificates: Certificates;
}

async function clusterWithTls({
  kubectl,
  namespace,
}: Pick<StoryContext, 'kubectl' | 'namespace'>): Promise<ClusterWithTls> {
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  return { certificates, db: declared(kubectl, 'db', { tls: await certificates.client() }) };
}

story.asOnTheLab(
  'TLS Secrets may use the keys of cert-manager or of the original, and may change between them',
  async (context) => {
    const { kubectl, step } = context;
    const { db, certificates } = await clusterWithTls(context);
    await installOperator(context);
    await step('three members serve with tls.crt, tls.key and ca.crt', async () => {
      await certificates.write('cert-manager');
      await db.apply({ size: 3, version, extra, durable: true });
      await db.settled(3);
    });
    await underTraffic(db, async () => {
      await step('after the keys are renamed, members get the new certificates, and no pod restarts', async () => {
        const before = await podUidsAndRestarts(kubectl);
        await certificates.write('original');
        const renewed = (await clientAccessIn(kubectl, 'db-peer', 'peer')).tls.cert;
        await until('the member Secret has the new certificate', async () => {
          const kept = (await clientAccessIn(kubectl, 'db-member-tls', 'peer')).tls.cert;
          return kept === renewed || undefined;
        });
        await db.settled(3);
        expect(await podUidsAndRestarts(kubectl)).toBe(before);
      });
    });
  },
);

interface Flaw {
  readonly title: string;
  readonly file: SecretFile;
  readonly corrupt: (certificates: Certificates) => Promise<void>;
  readonly message: string;
}

const flaws: readonly Flaw[] = [
  {
    title: 'a key is missing',
    file: 'peer',
    corrupt: async (certificates) => {
      const { certificate } = await certificates.issue('peer');
      const files = { 'peer.crt': certificate, 'peer-ca.crt': certificates.authority.certificate };
      await certificates.writeFiles('peer', files);
    },
    message: 'Secret db-peer: peer.key is missing',
  },
  {
    title: 'a certificate is not PEM',
    file: 'server',
    corrupt: (certificates) => certificates.writeOne('server', { certificate: 'hello', key: 'hello' }),
    message: 'Secret db-server: server.crt is not a certificate in PEM',
  },
  {
    title: 'a key does not match its certificate',
    file: 'server',
    corrupt: async (certificates) => {
      const [{ certificate }, { key }] = [await certificates.issue('server'), await certificates.issue('server')];
      await certificates.writeOne('server', { certificate, key });
    },
    message: 'Secret db-server: server.key does not match the certificate in server.crt',
  },
  {
    title: 'a certificate has expired',
    file: 'etcd-client',
    corrupt: async (certificates) => {
      const valid = { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) };
      await certificates.writeOne('etcd-client', await certificates.issue('etcd-client', { valid }));
    },
    message: 'Secret db-etcd-client: etcd-client.crt expired on ',
  },
  {
    title: 'a certificate lacks the names of members',
    file: 'peer',
    corrupt: async (certificates) =>
      certificates.writeOne('peer', await certificates.issue('peer', { dns: ['db.example.com'] })),
    message: 'Secret db-peer: peer.crt lacks the name *.db.',
  },
  {
    title: 'a certificate lacks the name of the reverse DNS lookup',
    file: 'peer',
    corrupt: async (certificates) => {
      const [short = ''] = certificates.names;
      await certificates.writeOne('peer', await certificates.issue('peer', { dns: [short] }));
    },
    message: '.svc.<cluster domain>: issue it with that name',
  },
];

/** Corrupts one Secret before the others are corrected, so that the Secrets are never all valid. */
async function corruptOnly({ file, corrupt }: Flaw, certificates: Certificates): Promise<void> {
  await corrupt(certificates);
  for (const other of secretFiles.filter((each) => each !== file))
    await certificates.writeOne(other, await certificates.issue(other));
}

story.asOnTheLab(
  'missing or invalid TLS Secrets are reported by name and key, and no member starts',
  async (context) => {
    const { kubectl, step } = context;
    const { db, certificates } = await clusterWithTls(context);
    await installOperator(context);
    await step('all Secrets are missing', async () => {
      await db.apply({ size: 3, version, extra });
      expect(await degradedWith(db, 'Secret db-peer does not exist')).toMatchObject({ reason: 'InvalidSecret' });
      await degradedWith(db, 'Secret db-server does not exist');
      await degradedWith(db, 'Secret db-etcd-client does not exist');
    });
    for (const flaw of flaws)
      await step(flaw.title, async () => {
        await corruptOnly(flaw, certificates);
        expect(await degradedWith(db, flaw.message)).toMatchObject({ reason: 'InvalidSecret' });
      });
    await step('no pod was created, and Events report each problem', async () => {
      expect(await db.podNames()).toEqual([]);
      const messages = flaws.map(({ message }) => message);
      await eventsContain(kubectl, { reason: 'InvalidSecret' }, messages);
    });
    await step('with valid Secrets the cluster serves', async () => {
      await certificates.write();
      await db.settled(3);
      expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
    });
  },
);

story.asOnTheLab('a running cluster keeps serving if its TLS Secrets become invalid', async (context) => {
  const { kubectl, step } = context;
  const { db, certificates } = await clusterWithTls(context);
  await installOperator(context);
  await certificates.write();
  await db.apply({ size: 1, version, extra });
  await db.settled(1);
  const pods = await db.podNames();
  await underTraffic(db, async () => {
    await step('while a Secret is missing, no member is added', async () => {
      await kubectl('delete secret db-peer');
      await kubectl('scale etcdcluster db --replicas=3');
      await degradedWith(db, 'Secret db-peer does not exist');
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      expect(await db.podNames()).toEqual(pods);
      expect(await db.members()).toHaveLength(1);
    });
    await step('once the Secret exists, the scale-up completes', async () => {
      await certificates.writeOne('peer', await certificates.issue('peer'));
      await db.settled(3);
    });
    await step('a client certificate of a foreign CA is reported, and the operator keeps its old one', async () => {
      const foreign = await certificatesFor(kubectl, { name: 'db', namespace: context.namespace });
      await foreign.writeOne('etcd-client', await foreign.issue('etcd-client'));
      await degradedWith(db, 'Secret db-server: server.crt is not signed by a CA in etcd-client-ca.crt of Secret');
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      await certificates.writeOne('etcd-client', await certificates.issue('etcd-client'));
      await db.settled(3);
      expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
    });
  });
});

story.asOnTheLab('renewed certificates in TLS Secrets are served without a restart', async (context) => {
  const { kubectl, step } = context;
  const { db, certificates } = await clusterWithTls(context);
  await installOperator(context);
  await certificates.write();
  await db.apply({ size: 3, version, extra });
  await db.settled(3);
  const before = await podUidsAndRestarts(kubectl);
  const renewed = { peer: await certificates.issue('peer'), server: await certificates.issue('server') };
  await underTraffic(db, async () => {
    await step('all three Secrets get new certificates, and members serve them', async () => {
      await certificates.writeOne('peer', renewed.peer);
      await certificates.writeOne('server', renewed.server);
      await certificates.writeOne('etcd-client', await certificates.issue('etcd-client'));
      await certificatesServed(kubectl, { peer: renewed.peer.certificate, server: renewed.server.certificate });
    });
  });
  await step('no pod restarted, and the operator still manages the cluster', async () => {
    expect(await podUidsAndRestarts(kubectl)).toBe(before);
    await kubectl('scale etcdcluster db --replicas=1');
    await db.settled(1);
  });
});

for (const { etcd, durable } of [
  { etcd: version, durable: true },
  { etcd: version, durable: false },
  { etcd: '3.1.10', durable: true }, // this version reads its certificate only at start
]) {
  const where = durable ? '' : ' without PVCs';
  const title = `a new CA in all Secrets of etcd ${etcd}${where} is rolled out while clients write`;
  story.asOnTheLab(title, (context) => replaceCa(context, { etcd, durable }));
}

async function replaceCa(context: StoryContext, { etcd, durable }: { etcd: string; durable: boolean }): Promise<void> {
  const { kubectl, step, namespace } = context;
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  const db = declared(kubectl, 'db', () => clientAccessIn(kubectl, 'db-member-tls', 'etcd-client'));
  await installOperator(context);
  await certificates.write();
  await db.apply({ size: 3, version: etcd, extra, durable });
  await db.settled(3);
  const members = await db.ids();
  const { longestPause } = await underTraffic(db, async () => {
    await step('members trust both CAs, serve the new certificates, then trust the new CA only', async () => {
      const others = await certificatesFor(kubectl, { name: 'db', namespace });
      await others.write();
      await waitForSoleCa(kubectl, others);
      await db.settled(3);
    });
  });
  const outcome = durable ? 'the member IDs are unchanged' : 'all members were replaced';
  await step(`${outcome}, and writes paused for ${Math.round(longestPause)} ms at most`, async () => {
    const after = await db.ids();
    expect(after.filter((id) => members.includes(id))).toHaveLength(durable ? 3 : 0);
  });
}
