// The documents that questions of our own agent are about. No VS Code in here.

/** What a document is: a plan that waits for its approval, or the results of several agents beside each other. */
export type Shown = 'plan' | 'best';

/** The document that a question of a run is about, as its server names them; undefined for any other file. */
export function shownOf(run: string, uri: string | undefined): { uri: string; what: Shown } | undefined {
  const name = uri?.startsWith('file:///') ? uri.split('/').pop()! : '';
  const what = (['plan', 'best'] as const).find(w => name.startsWith(`${run}-${w}-`));
  return what && name.endsWith('.md') && !/[?#]/.test(uri!) ? { uri: uri!, what } : undefined;
}
