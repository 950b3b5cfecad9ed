import type { EtcdConnection } from '../../src/etcd/client.ts';
import type { DeclaredCluster } from './cluster.ts';
import { until } from './until.ts';

/** Asks the first member that answers: members are replaced while a cluster is restored. */
const askOne = <T>(db: DeclaredCluster, ask: (member: EtcdConnection) => Promise<T>): Promise<T> =>
  until('a member answers', () =>
    db.withMembers(async (all) => {
      const answering = all.map(async (member) => {
        await member.status({ timeoutMillis: 2_000 });
        return member;
      });
      return ask(await Promise.any(answering));
    }),
  );

/** Writes 20 keys with values that begin with `word`. */
export const writeKeys = (db: DeclaredCluster, word: string): Promise<boolean> =>
  askOne(db, async (member) => {
    for (let i = 0; i < 20; i++) await member.put(`key/${i}`, `${word} ${i}`);
    return true;
  });

/** All keys with their values and revisions. */
export const allKeys = (db: DeclaredCluster): Promise<readonly string[]> =>
  askOne(db, async (member) =>
    (await member.list({ key: 'key/', prefix: true })).map(({ key, value, createRevision, modRevision }) =>
      [key, Buffer.from(value), createRevision, modRevision].map(String).join(' '),
    ),
  );
