import { unpackDebian } from '../debian/packages.ts';
import { runMain } from '../lib/main.ts';
import { buildPrograms } from './build.ts';

await runMain(async () => {
  await Promise.all([unpackDebian(), buildPrograms()]);
});
