import type { KnownWorld } from '../../model/cluster.ts';
import { type Rule, wait } from '../step.ts';

/** The status reports a change of client TLS before the first member changes. */
export const announceClientMigration: Rule<KnownWorld> = ({ clientMigration, isMigrationAnnounced = false }) =>
  clientMigration === undefined || isMigrationAnnounced
    ? undefined
    : wait('ClientsMoving', 'announcing the change of client TLS in the status');
