import { expect } from 'vitest';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installOperator } from '../support/operator.ts';
import { bodiesOf, showing } from '../support/shown.ts';
import { type Story, story } from '../support/story.ts';
import {
  believedAlone,
  type Certificates,
  certificatesFor,
  entryIn,
  type SecretFile,
  secretFiles,
  tlsOf,
} from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
const extra = { TLS: tlsOf('db', ['peer', 'client']) };
const day = 24 * 3600 * 1000;

interface Certified {
  readonly db: DeclaredCluster;
  readonly certificates: Certificates;
}

async function certified({ kubectl, namespace }: Pick<Story, 'kubectl' | 'namespace'>): Promise<Certified> {
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  return { certificates, db: declared(kubectl, 'db', { tls: await certificates.client() }) };
}

story.asOnTheLab('certificates have the names of cert-manager, and then those of the original', async (told) => {
  const { kubectl, step } = told;
  const { db, certificates } = await certified(told);
  await installOperator(told);
  await step('three members serve with tls.crt, tls.key and ca.crt', async () => {
    await certificates.write('cert-manager');
    await db.apply({ size: 3, version, extra, durable: true });
    await db.settled(3);
  });
  await underTraffic(db, async () => {
    await step('keys are renamed: members get the new certificates, and nobody is restarted', async () => {
      const before = await bodiesOf(kubectl);
      await certificates.write('original');
      const renewed = (await entryIn(kubectl, 'db-peer', 'peer')).tls.cert;
      await until('the new certificate is kept for members', async () => {
        const kept = (await entryIn(kubectl, 'db-member-tls', 'peer')).tls.cert;
        return kept === renewed || undefined;
      });
      await db.settled(3);
      expect(await bodiesOf(kubectl)).toBe(before);
    });
  });
});

interface Flaw {
  readonly title: string;
  readonly file: SecretFile;
  readonly spoil: (certificates: Certificates) => Promise<void>;
  readonly says: string;
}

const flaws: readonly Flaw[] = [
  {
    title: 'a key is missing',
    file: 'peer',
    spoil: async (certificates) => {
      const { certificate } = await certificates.issue('peer');
      const files = { 'peer.crt': certificate, 'peer-ca.crt': certificates.authority.certificate };
      await certificates.writeFiles('peer', files);
    },
    says: 'Secret db-peer: peer.key is missing',
  },
  {
    title: 'a certificate is no PEM',
    file: 'server',
    spoil: (certificates) => certificates.writeOne('server', { certificate: 'hello', key: 'hello' }),
    says: 'Secret db-server: server.crt is not a certificate in PEM',
  },
  {
    title: 'a key does not fit',
    file: 'server',
    spoil: async (certificates) => {
      const [{ certificate }, { key }] = [await certificates.issue('server'), await certificates.issue('server')];
      await certificates.writeOne('server', { certificate, key });
    },
    says: 'Secret db-server: server.key does not fit the certificate in server.crt',
  },
  {
    title: 'a certificate has expired',
    file: 'etcd-client',
    spoil: async (certificates) => {
      const valid = { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) };
      await certificates.writeOne('etcd-client', await certificates.issue('etcd-client', { valid }));
    },
    says: 'Secret db-etcd-client: etcd-client.crt expired on ',
  },
  {
    title: 'a certificate lacks the names of members',
    file: 'peer',
    spoil: async (certificates) =>
      certificates.writeOne('peer', await certificates.issue('peer', { dns: ['db.example.com'] })),
    says: 'Secret db-peer: peer.crt lacks the name *.db.',
  },
  {
    title: 'a certificate lacks the name that members find when they look each other up',
    file: 'peer',
    spoil: async (certificates) => {
      const [short = ''] = certificates.names;
      await certificates.writeOne('peer', await certificates.issue('peer', { dns: [short] }));
    },
    says: '.svc.<cluster domain>: issue it with that name',
  },
];

/** One Secret is spoilt before the others are mended, so that they are never all good. */
async function spoilOnly({ file, spoil }: Flaw, certificates: Certificates): Promise<void> {
  await spoil(certificates);
  for (const other of secretFiles.filter((each) => each !== file))
    await certificates.writeOne(other, await certificates.issue(other));
}

story.asOnTheLab('Secrets that are missing or unfit are told by name and key, and waited for', async (told) => {
  const { kubectl, step } = told;
  const { db, certificates } = await certified(told);
  await installOperator(told);
  await step('there are none', async () => {
    await db.apply({ size: 3, version, extra });
    expect(await toldOf(db, 'Secret db-peer does not exist')).toMatchObject({ reason: 'SecretUnfit' });
    await toldOf(db, 'Secret db-server does not exist');
    await toldOf(db, 'Secret db-etcd-client does not exist');
  });
  for (const flaw of flaws)
    await step(flaw.title, async () => {
      await spoilOnly(flaw, certificates);
      expect(await toldOf(db, flaw.says)).toMatchObject({ reason: 'SecretUnfit' });
    });
  await step('nothing was started, and it was told in Events', async () => {
    expect(await db.podNames()).toEqual([]);
    const flawsSaid = flaws.map(({ says }) => says);
    await eventsSay(kubectl, { reason: 'SecretUnfit' }, flawsSaid);
  });
  await step('once all is good it serves', async () => {
    await certificates.write();
    await db.settled(3);
    expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
  });
});

story.asOnTheLab('a cluster that runs is only told of Secrets that have become unfit', async (told) => {
  const { kubectl, step } = told;
  const { db, certificates } = await certified(told);
  await installOperator(told);
  await certificates.write();
  await db.apply({ size: 1, version, extra });
  await db.settled(1);
  const pods = await db.podNames();
  await underTraffic(db, async () => {
    await step('a Secret is deleted: nobody is added', async () => {
      await kubectl('delete secret db-peer');
      await kubectl('scale etcdcluster db --replicas=3');
      await toldOf(db, 'Secret db-peer does not exist');
      expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
      expect(await db.podNames()).toEqual(pods);
      expect(await db.members()).toHaveLength(1);
    });
    await step('it is there again: the cluster grows', async () => {
      await certificates.writeOne('peer', await certificates.issue('peer'));
      await db.settled(3);
    });
    await step(
      "a stranger's certificate for the operator is told, and the one that is believed goes on being used",
      async () => {
        const stranger = await certificatesFor(kubectl, { name: 'db', namespace: told.namespace });
        await stranger.writeOne('etcd-client', await stranger.issue('etcd-client'));
        await toldOf(db, 'Secret db-server: server.crt is not signed by an authority in etcd-client-ca.crt of Secret');
        expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });
        await certificates.writeOne('etcd-client', await certificates.issue('etcd-client'));
        await db.settled(3);
        expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
      },
    );
  });
});

story.asOnTheLab('renewed certificates are served without a restart', async (told) => {
  const { kubectl, step } = told;
  const { db, certificates } = await certified(told);
  await installOperator(told);
  await certificates.write();
  await db.apply({ size: 3, version, extra });
  await db.settled(3);
  const before = await bodiesOf(kubectl);
  const renewed = { peer: await certificates.issue('peer'), server: await certificates.issue('server') };
  await underTraffic(db, async () => {
    await step('all three Secrets get new certificates, and members show them', async () => {
      await certificates.writeOne('peer', renewed.peer);
      await certificates.writeOne('server', renewed.server);
      await certificates.writeOne('etcd-client', await certificates.issue('etcd-client'));
      await showing(kubectl, { peer: renewed.peer.certificate, server: renewed.server.certificate });
    });
  });
  await step('nobody was restarted, and the operator goes on', async () => {
    expect(await bodiesOf(kubectl)).toBe(before);
    await kubectl('scale etcdcluster db --replicas=1');
    await db.settled(1);
  });
});

for (const { etcd, durable } of [
  { etcd: version, durable: true },
  { etcd: version, durable: false },
  { etcd: '3.1.10', durable: true }, // which reads its certificate only when it starts
]) {
  const where = durable ? '' : ' without disks';
  const title = `all Secrets of etcd ${etcd}${where} get certificates of another authority at once, and nobody loses trust`;
  story.asOnTheLab(title, (told) => replaceAuthority(told, { etcd, durable }));
}

async function replaceAuthority(told: Story, { etcd, durable }: { etcd: string; durable: boolean }): Promise<void> {
  const { kubectl, step, namespace } = told;
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  const db = declared(kubectl, 'db', () => entryIn(kubectl, 'db-member-tls', 'etcd-client'));
  await installOperator(told);
  await certificates.write();
  await db.apply({ size: 3, version: etcd, extra, durable });
  await db.settled(3);
  const members = await db.ids();
  const { longestPause } = await underTraffic(db, async () => {
    await step('members believe both, then show the new, then forget the old', async () => {
      const others = await certificatesFor(kubectl, { name: 'db', namespace });
      await others.write();
      await believedAlone(kubectl, others);
      await db.settled(3);
    });
  });
  const whose = durable ? 'they are the same members' : 'others have taken their place';
  await step(`${whose}, and writes paused for ${Math.round(longestPause)} ms at most`, async () => {
    const after = await db.ids();
    expect(after.filter((id) => members.includes(id))).toHaveLength(durable ? 3 : 0);
  });
}
