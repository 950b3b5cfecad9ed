/**
 * Puts values in the place of `$(NAME)`, as Kubernetes does: `$$` is a dollar sign that means nothing, and a name that
 * is not known stays as it is written.
 */
export const expand = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (values[name] ?? whole),
  );
