import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, it } from 'vitest';
import { OldAlarms } from '../../src/controllers/cluster/alarms.ts';
import { seeMembership } from '../../src/controllers/cluster/membership.ts';
import { AlarmRequest_AlarmAction, AlarmType, Maintenance } from '../../src/etcd/gen/etcd_pb.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import { nameOf } from '../support/worlds.ts';

/** The member's peer URL is at 127.0.0.1, and the first part of its host is taken for its name. */
const name = nameOf('127');

it.concurrent.each(etcdVersions)('alarms of etcd %s are seen with the member that they are about', async (version) => {
  await using cluster = await startEtcd({ version });
  const connection = cluster.connect();
  const { memberId } = await connection.status();
  const asking = { signal: new AbortController().signal, timeoutMillis: 5_000 };
  const alarmsSeen = async () => {
    const sighting = await seeMembership([{ name, connection, asking }]);
    const known = await new OldAlarms({ monotonic: () => 0 }).added('n/db', sighting, () => connection);
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
  if (version.startsWith('3.1.') || version.startsWith('3.2.')) return; // they have no other alarm
  await raise(memberId, AlarmType.CORRUPT);
  expect(await alarmsSeen()).toEqual([expect.arrayContaining(['NOSPACE', 'CORRUPT']), ['NOSPACE']]);
});
