import { Command } from 'commander';
import { version } from './version.ts';

/** The one program of this project. It has no controllers yet: what it can tell today is its version. */
const program = new Command('etcd-operator')
  .description('an automated etcd administrator for Kubernetes')
  .version(`etcd-operator ${version}`, '--version', 'print the version and exit');

await program.parseAsync();
