// Writes down the colours that the style of the Agent view's page uses, as VS Code's own themes have them, for pages without a workbench.
//
//   node scripts/agent-themes.mjs
import * as fs from 'node:fs';
import * as path from 'node:path';
import { browse, sandbox, serve } from '../test/e2e/workbench.mjs';

const here = path.join(import.meta.dirname, '..');
const used = [...new Set(['base', 'style'].flatMap(name => fs.readFileSync(path.join(here, `src/agent/page/${name}.css`), 'utf8').match(/--vscode-[\w-]+/g)))].sort();
const themes = { dark: 'Dark Modern', light: 'Light Modern', 'hc-dark': 'Default High Contrast', 'hc-light': 'Default High Contrast Light' };
const out = {};
for (const [name, theme] of Object.entries(themes)) {
  const box = sandbox({ 'a.txt': '' });
  box.settings({ 'workbench.colorTheme': theme });
  const server = await serve(box), { browser, page } = await browse();
  try {
    await page.goto(server.url, { waitUntil: 'commit' });
    const wanted = { dark: 'vs-dark', light: 'vs', 'hc-dark': 'hc-black', 'hc-light': 'hc-light' }[name];
    await page.locator(`.monaco-workbench.${wanted} .part.sidebar`).waitFor();
    await page.waitForFunction(() => getComputedStyle(document.querySelector('.monaco-workbench')).getPropertyValue('--vscode-gitDecoration-addedResourceForeground')); // an extension's
    out[name] = await page.evaluate(used => {
      const s = getComputedStyle(document.querySelector('.monaco-workbench'));
      return Object.fromEntries(used.map(v => [v, s.getPropertyValue(v).trim()]).filter(([, v]) => v));
    }, used);
  } finally {
    await browser.close();
    await server.stop();
    fs.rmSync(box.root, { recursive: true, force: true });
  }
}
fs.writeFileSync(path.join(here, 'test/agent/themes.json'), `${JSON.stringify(out, null, 1)}\n`);
