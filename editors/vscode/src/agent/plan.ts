// The document of a plan that waits for its approval. No VS Code in here.

/** The URI of the plan that a question of a run is about, as its server names plans; undefined for any other file. */
export function planOf(run: string, uri: string | undefined): string | undefined {
  const name = uri?.startsWith('file:///') ? uri.split('/').pop()! : '';
  return name.startsWith(`${run}-plan-`) && name.endsWith('.md') && !/[?#]/.test(uri!) ? uri : undefined;
}
