import { Command } from 'commander';
import { runMain } from '../lib/main.ts';
import { type Machine, nodeDigests, nodeVersion } from './node-program.ts';
import { compareWithOfficial, officialReleases } from './official-node.ts';

const program = new Command('verify-node')
  .description("compare the digests of the image's node with the official releases of Node")
  .option('--releases <url>', 'URL of the releases or of a mirror', officialReleases)
  .action(async ({ releases }: { readonly releases: string }) => {
    for (const [machine, digest] of Object.entries(nodeDigests) as [Machine, string][]) {
      await compareWithOfficial({ version: nodeVersion, machine, digest }, releases);
      process.stdout.write(`node ${nodeVersion} for linux-${machine} matches the official release: ${digest}\n`);
    }
  });
await runMain(async () => {
  await program.parseAsync();
});
