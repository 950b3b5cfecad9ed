import { expect, it } from 'vitest';
import { explainNoNamespaces } from './namespace-support.ts';

it('a sysctl that forbids user namespaces is named together with the command that changes it', () => {
  const read = (name: string): number | undefined => (name === 'kernel.unprivileged_userns_clone' ? 0 : undefined);
  const why = explainNoNamespaces('unshare failed: Operation not permitted', read);
  expect(why).toContain('Operation not permitted');
  expect(why).toContain('sudo sysctl -w kernel.unprivileged_userns_clone=1');
});

it("Ubuntu's AppArmor sysctl is reported, and sysctls with a permissive value are not", () => {
  const read = (name: string): number | undefined =>
    ({ 'kernel.apparmor_restrict_unprivileged_userns': 1, 'user.max_user_namespaces': 10_000 })[name];
  expect(explainNoNamespaces('', read).match(/sysctl -w .*/g)).toEqual([
    'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ]);
});
