// The Agent view's page alone in a browser, with the extension played by the test.
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as path from 'node:path';
import * as esbuild from 'esbuild';

const here = path.join(import.meta.dirname, '../..');
export const themes = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'themes.json'), 'utf8'));
const classes = { dark: 'vscode-dark', light: 'vscode-light', 'hc-dark': 'vscode-high-contrast', 'hc-light': 'vscode-high-contrast vscode-high-contrast-light' };

/** The page's program and style as they are shipped, and the function that makes a page of them. */
export async function bundle() {
  const options = { bundle: true, write: false, logLevel: 'warning' };
  const page = await esbuild.build({ ...options, entryPoints: { agent: path.join(here, 'src/agent/page/main.tsx') }, outdir: 'out', platform: 'browser', format: 'iife', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact', minify: !process.env.NOMIN });
  const html = await esbuild.build({ ...options, entryPoints: [path.join(here, 'src/agent/page/html.ts')], platform: 'node', format: 'esm' });
  const text = end => page.outputFiles.find(f => f.path.endsWith(end)).text;
  const { agentPage } = await import(`data:text/javascript,${encodeURIComponent(html.outputFiles[0].text)}`);
  return { script: text('.js'), style: text('.css'), agentPage };
}

// What the workbench gives a page. The state is kept as by a reload, in the name of the window.
const host = `
const posted = window.posted = [];
// Effects run in a timer after the frame in which a row was drawn: what they send is there after a timer that is set later.
window.drawn = async () => {
  for (let n = 0; n < 3; n++) { await new Promise(r => requestAnimationFrame(r)); }
  await new Promise(r => setTimeout(r));
};
let state = window.name ? JSON.parse(window.name) : undefined;
window.acquireVsCodeApi = () => ({ postMessage: m => posted.push(structuredClone(m)), getState: () => state, setState: s => { state = s; window.name = JSON.stringify(s); } });
`;

/** A server of the page on this machine, and how to open it. */
export async function pages(browser) {
  const { script, style, agentPage } = await bundle();
  const server = http.createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(agentPage(host + script, style)));
  await new Promise(r => server.listen(0, '127.0.0.1', r));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return {
    size: script.length,
    /** One page; its requests and faults are kept. */
    async open({ theme = 'dark', width = 340, height = 720, zoom = 1, reader = false } = {}) {
      const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: zoom });
      const requests = [], faults = [];
      page.on('request', r => { if (r.url() !== url && !r.url().startsWith('blob:') && !r.url().endsWith('/favicon.ico')) { requests.push(r.url()); } });
      page.on('pageerror', e => faults.push(String(e)));
      page.on('console', m => { if (m.type() === 'error' && !m.text().includes('favicon')) { faults.push(m.text()); } });
      const fonts = { '--vscode-font-family': 'system-ui, "DejaVu Sans", sans-serif', '--vscode-font-size': '13px', '--vscode-editor-font-family': '"DejaVu Sans Mono", monospace', '--vscode-editor-font-size': '13px' };
      const dress = () => page.evaluate(([vars, look]) => {
        for (const [k, v] of Object.entries(vars)) { document.documentElement.style.setProperty(k, v); }
        document.body.className = look;
      }, [{ ...fonts, ...themes[theme] }, `${classes[theme]} vscode-reduce-motion${reader ? ' vscode-using-screen-reader' : ''}`]);
      const me = {
        page, requests, faults,
        /** What the page has sent, of a type or all, once all is drawn. */
        posted: type => page.evaluate(async type => { await window.drawn(); return window.posted.filter(m => !type || m.type === type); }, type),
        forget: () => page.evaluate(async () => { await window.drawn(); window.posted.length = 0; }),
        /** Sends messages as the extension does, and waits until they are drawn. */
        send: (...messages) => page.evaluate(async messages => {
          for (const m of messages) { window.dispatchEvent(new MessageEvent('message', { data: m })); }
          await window.drawn();
        }, messages),
        async reload() { await page.reload(); await dress(); },
        row: key => page.locator(`.row[data-key="${key}"]`),
      };
      await page.goto(url);
      await dress();
      return me;
    },
    close: () => new Promise(r => server.close(r)),
  };
}
