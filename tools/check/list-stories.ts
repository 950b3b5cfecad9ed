import { globSync } from 'node:fs';
import { join } from 'node:path';
import { storiesIn } from '../../test/support/story-catalog.ts';

/**
 * Prints all stories with file and place as JSON. A separate process, because stories read the environment on import.
 */
const directory = join(import.meta.dirname, '../../test/e2e');
const files = globSync('*.e2e.ts', { cwd: directory }).toSorted();
process.stdout.write(JSON.stringify(await storiesIn(files, directory)));
