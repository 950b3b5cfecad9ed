/**
 * Has Node translate what the lab is made of and keep the outcome where NODE_COMPILE_CACHE says: a process that has to translate
 * TypeScript itself holds the translator in memory for as long as it lives.
 */
const parts = ['cli/lab/command', 'cli/lab/start', 'cli/lab/own-control-plane', 'cli/lab/screen', 'main/operator'];
await Promise.all(parts.map((part) => import(`../src/${part}.ts`)));
