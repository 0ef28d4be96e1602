// The page of diagrams. No VS Code in here.
import { escape } from '../tools/form';

/** A diagram, as the tool display_diagram gives it. */
export interface Diagram { path: string; language: string; source: string; line: number; index: number; count: number }

/** The body of the page: each diagram with its source, and a place for the drawing of those that can be drawn. */
export function diagramsHtml(list: Diagram[], words: { source: string; notDrawn: string }): string {
  return list.map(d => `<figure>
    <figcaption>${escape(d.path)}:${d.line}</figcaption>
    ${d.language === 'mermaid'
      ? `<div class="drawing" data-diagram="${escape(d.source)}"></div><div class="error" role="alert"></div>`
      : `<p class="about">${escape(words.notDrawn.replace('{0}', d.language))}</p>`}
    <details${d.language === 'mermaid' ? '' : ' open'}><summary>${escape(words.source)}</summary><pre><code>${escape(d.source)}</code></pre></details>
  </figure>`).join('');
}

/**
 * Runs in the page, after mermaid: draws, and draws again when the colours of the editor change. At the level strict
 * mermaid takes markup and links out of labels; the page can't load anything in any case.
 */
export const drawScript = `
const draw = async () => {
  const dark = document.body.matches('.vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)');
  mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'default', fontFamily: 'inherit', suppressErrorRendering: true });
  let n = 0;
  for (const at of document.querySelectorAll('[data-diagram]')) {
    const error = at.nextElementSibling;
    try {
      at.innerHTML = (await mermaid.render('diagram-' + n++, at.dataset.diagram)).svg;
      error.textContent = '';
    } catch (e) {
      at.textContent = '';
      error.textContent = e instanceof Error ? e.message : String(e);
      at.closest('figure').querySelector('details').open = true;
    }
  }
};
let last = document.body.className;
new MutationObserver(() => {
  if (document.body.className !== last) { last = document.body.className; draw(); }
}).observe(document.body, { attributes: true, attributeFilter: ['class'] });
draw();
`;
