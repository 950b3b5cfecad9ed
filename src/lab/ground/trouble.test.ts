import { expect, it } from 'vitest';
import { whyNoNamespaces } from './trouble.ts';

it('names the setting that keeps users from making namespaces, and its remedy', () => {
  const read = (name: string): number | undefined => (name === 'kernel.unprivileged_userns_clone' ? 0 : undefined);
  const why = whyNoNamespaces('unshare failed: Operation not permitted', read);
  expect(why).toContain('Operation not permitted');
  expect(why).toContain('sudo sysctl -w kernel.unprivileged_userns_clone=1');
});

it('knows the setting of Ubuntu, and lets those be that are as they should be', () => {
  const read = (name: string): number | undefined =>
    ({ 'kernel.apparmor_restrict_unprivileged_userns': 1, 'user.max_user_namespaces': 10_000 })[name];
  expect(whyNoNamespaces('', read).match(/sysctl -w .*/g)).toEqual([
    'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ]);
});
