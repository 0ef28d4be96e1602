// Takes pictures of the Agent view's page in each of its states, alone in a browser, and measures it with a long run.
//
//   node scripts/agent-page.mjs DIR [SCENE…] [--theme dark]… [--width 340]…
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { browse } from '../test/e2e/workbench.mjs';
import { pages } from '../test/agent/page.mjs';
import { long, reset, scenes, view } from '../test/agent/scenes.mjs';

const { values, positionals: [dir, ...names] } = parseArgs({ allowPositionals: true, options: { theme: { type: 'string', multiple: true }, width: { type: 'string', multiple: true } } });
if (!dir) { throw new Error('DIR: where the pictures go'); }
fs.mkdirSync(dir, { recursive: true });
const { browser } = await browse(), site = await pages(browser);
try {
  for (const [name, scene] of Object.entries(scenes).filter(([name]) => names.length === 0 || names.includes(name))) {
    for (const theme of values.theme ?? ['dark', 'light']) {
      for (const width of (values.width ?? ['340']).map(Number)) {
        const me = await site.open({ theme, width, height: width >= 900 ? 860 : 720 });
        await me.send(...scene.messages());
        await scene.then?.(me.page, me.send);
        await me.page.waitForTimeout(150); // for the picture alone
        await me.page.screenshot({ path: path.join(dir, `${name}-${width}-${theme}.png`) });
        for (const f of me.faults) { console.error(`${name}: ${f}`); }
        await me.page.close();
      }
    }
  }
  if (names.length === 0 || names.includes('measure')) { await measure(); }
} finally {
  await site.close();
  await browser.close();
}

async function measure() {
  const me = await site.open({}), list = long(5000);
  const opened = await me.page.evaluate(async messages => {
    const from = performance.now();
    for (const m of messages) { window.dispatchEvent(new MessageEvent('message', { data: m })); }
    await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
    return performance.now() - from;
  }, [view(), { type: 'select', run: 'r' }, reset(list)]);
  await me.page.locator('.composer textarea').focus();
  const result = await me.page.evaluate(async seq => { // a message streams, and each key is followed to the frame after it
    const field = document.querySelector('.composer textarea'), times = [], send = data => window.dispatchEvent(new MessageEvent('message', { data }));
    const frame = () => new Promise(r => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = r; c.port2.postMessage(0); }));
    let text = '', go = true;
    const stream = setInterval(() => { if (go) { text = `word ${seq} of a text **that** goes on. ${seq % 9 ? '' : '\n\n'}`; send({ type: 'events', run: 'r', after: seq, events: [{ run: 'r', seq: ++seq, time: new Date().toISOString(), kind: 'text', message: 'live', delta: text }] }); } }, 16);
    for (let i = 0; i < 200; i++) {
      const from = performance.now();
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }));
      field.value += 'a';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await frame();
      times.push(performance.now() - from);
      if (i % 2) { document.querySelector('.transcript').scrollTop -= 300; }
    }
    go = false;
    clearInterval(stream);
    times.sort((a, b) => a - b);
    return { median: times[100], p99: times[198], worst: times[199], nodes: document.querySelectorAll('*').length };
  }, list.length);
  console.log(`5000 events: opens in ${opened.toFixed(0)} ms; key to frame ${result.median.toFixed(1)} ms median, ${result.p99.toFixed(1)} p99, ${result.worst.toFixed(1)} worst; ${result.nodes} elements; script ${(site.size / 1024).toFixed(0)} KB`);
}
