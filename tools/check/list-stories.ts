import { globSync } from 'node:fs';
import { join } from 'node:path';
import { storiesIn } from '../../test/support/story-catalog.ts';

/** Prints every story with its file and where it can be told, as JSON. A process of its own: stories read the environment when they are loaded. */
const directory = join(import.meta.dirname, '../../test/e2e');
const files = globSync('*.e2e.ts', { cwd: directory }).toSorted();
process.stdout.write(JSON.stringify(await storiesIn(files, directory)));
