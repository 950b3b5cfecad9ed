import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, it } from 'vitest';
import { OldAlarms } from '../../src/controllers/cluster/observe/alarms.ts';
import { readMembership } from '../../src/controllers/cluster/observe/membership.ts';
import { AlarmRequest_AlarmAction, AlarmType, Maintenance } from '../../src/etcd/gen/etcd_pb.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import { nameOf } from '../support/worlds.ts';

/** The member's name is the first label of its peer URL's host, here 127.0.0.1. */
const name = nameOf('127');

it.concurrent.each(etcdVersions)(
  'alarms of etcd %s are observed with the member that they belong to',
  async (version) => {
    await using cluster = await startEtcd({ version });
    const connection = cluster.connect();
    const { memberId } = await connection.status();
    const asking = { signal: new AbortController().signal, timeoutMillis: 5_000 };
    const alarmsSeen = async () => {
      const sighting = await readMembership([{ name, connection, asking }]);
      const known = await new OldAlarms({ monotonic: () => 0 }).addTo('n/db', sighting, () => connection);
      return known.seen ? [known.value.members[0]?.alarms, known.value.leftAlarms] : known.why;
    };
    const baseUrl = cluster.member(0).endpoint.url;
    const maintenance = createClient(Maintenance, createGrpcTransport({ baseUrl }));
    const raise = (id: bigint, alarm: AlarmType): Promise<unknown> =>
      maintenance.alarm({ action: AlarmRequest_AlarmAction.ACTIVATE, memberId: id, alarm });

    expect(await alarmsSeen()).toEqual([[], undefined]);
    await raise(memberId, AlarmType.NOSPACE);
    expect(await alarmsSeen()).toEqual([['NOSPACE'], undefined]);
    await raise(memberId + 1n, AlarmType.NOSPACE);
    expect(await alarmsSeen()).toEqual([['NOSPACE'], ['NOSPACE']]);
    if (version.startsWith('3.1.') || version.startsWith('3.2.')) return; // these versions have no CORRUPT alarm
    await raise(memberId, AlarmType.CORRUPT);
    expect(await alarmsSeen()).toEqual([expect.arrayContaining(['NOSPACE', 'CORRUPT']), ['NOSPACE']]);
  },
);
