/**
 * Fills NODE_COMPILE_CACHE with the compiled modules of the lab. A process that strips TypeScript itself keeps the
 * compiler in memory.
 */
const parts = [
  'lab/cli/command',
  'lab/cli/start',
  'lab/cli/own-control-plane',
  'lab/cli/view/screen',
  'src/operator/operator',
];
await Promise.all(parts.map((part) => import(`../${part}.ts`)));
