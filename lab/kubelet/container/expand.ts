/**
 * Expands `$(NAME)` references as Kubernetes does: `$$` is an escaped dollar sign, and an unknown name stays unchanged.
 */
export const expand = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (values[name] ?? whole),
  );
