import { expect, it } from 'vitest';
import { commandBlocks } from './guide.ts';

const fence = '```';
const page = `# Title

${fence}console
$ kubectl apply -f - <<END
kind: A

# a comment of the manifest
END
$ kubectl get a
NAME   AGE
$ kubectl get \\
    b
${fence}

## Second

1. A step:

   ${fence}sh
   make lab   # until Ctrl-C
   ${fence}

<!-- not run: needs Docker -->
${fence}console
# docker build .
# docker push
${fence}

${fence}sh
make
${fence}

${fence}yaml
kind: B
${fence}
`;

it('the commands of a page are its prompted lines with their continuations, by heading', () => {
  expect(commandBlocks('page.md', page)).toEqual([
    {
      heading: 'Title',
      script:
        'kubectl apply -f - <<END\nkind: A\n\n# a comment of the manifest\nEND\nkubectl get a\nkubectl get \\\n    b',
    },
    { heading: 'Second', script: 'make lab   # until Ctrl-C' },
    { heading: 'Second', script: 'docker build .\ndocker push', notRun: 'needs Docker' },
    { heading: 'Second', script: 'make' },
  ]);
});
