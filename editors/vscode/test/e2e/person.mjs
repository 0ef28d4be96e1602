// What a person sees and does. Everything on the screen comes late at times, so every look is repeated until it is as
// wanted, and a click until it has its effect: a list that is redrawn between press and release swallows it.
import * as fs from 'node:fs';
import * as path from 'node:path';

export async function eventually(what, look, ms = 90_000) {
  let last;
  for (const end = Date.now() + ms; ;) {
    try {
      last = await look();
      if (last) { return last; }
    } catch (e) { last = e; }
    if (Date.now() > end) { throw new Error(`not seen: ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`); }
    await new Promise(r => setTimeout(r, 60));
  }
}

/** The result, or undefined after a while: a frame that is being removed never answers. */
export const soon = promise => Promise.race([promise.catch(() => undefined), new Promise(r => setTimeout(r, 2000))]);

/** The themes of pictures, by the names of VS Code's and the class that it gives its workbench, and the widths: a narrow window and a usual one. */
export const themes = { light: ['Light Modern', 'vs'], dark: ['Dark Modern', 'vs-dark'], hc: ['Default High Contrast', 'hc-black'] };
const widths = [900, 1440];

export function person(page, { agentPort, shots }) {
  const field = page.locator('.quick-input-widget input.input:not([placeholder^="Type the name of a command"])'); // not that of the list of commands, which may still be there
  const text = async locator => (await locator.allInnerTexts()).join('\n').replace(/\u00a0/g, ' ');
  const me = {
    page, text,
    /** Clicks until it shows; only where twice does no harm. */
    async click(locator, what, effect) {
      for (let n = 1; ; n++) {
        await locator.click({ timeout: 5000 }).catch(e => { if (n > 3) { throw e; } });
        try { return await eventually(what, effect, 5000); } catch (e) { if (n > 3) { throw e; } }
        if (await effect().catch(() => false)) { return; }
      }
    },
    /** The name on the active tab. VS Code may draw a file's name and its ending apart, with a line break between them. */
    async tab() { return (await text(page.locator('.tab.active'))).replace(/\s+/g, ' ').replace(/ (?=\.)/g, '').trim(); },
    /** The line of the cursor, as the status bar has it: it says so some time after a click. */
    async line() { return Number(/Ln (\d+)/.exec(await text(page.locator('[id="status.editor.selection"]')))?.[1]); },
    /**
     * Puts the cursor on a line with this text. Lenses and the colours of a diff come after its text and shift the lines, so that a click
     * may land beside the line; what is done next is about the line that the status bar names.
     */
    async place(where, hasText, line) {
      const at = where.locator('.view-line', { hasText }).first();
      if (where === me.modified) { await eventually('the changes are drawn', async () => await page.locator('.monaco-diff-editor .editor.modified .line-insert').count() > 0); }
      await eventually(`the cursor on line ${line}`, async () => {
        await at.click({ timeout: 5000 });
        return eventually('its line', async () => await me.line() === line, 4000).catch(() => false);
      });
    },
    /** Chooses a mode in the status bar; again, when what takes the focus late has closed the list. */
    async mode(name) {
      await eventually(`the mode ${name}`, async () => {
        await me.status('mode').click({ timeout: 5000 });
        await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click({ timeout: 10_000 });
        return eventually('the status bar', async () => (await text(me.status('mode'))).includes(name), 10_000).catch(() => false);
      });
    },
    /** Presses a key in the dialog, once it has the focus. */
    async press(key) {
      await me.dialog.waitFor();
      await eventually('the focus in the dialog', () => page.evaluate(() => document.activeElement?.closest('.monaco-dialog-box') != null));
      await page.keyboard.press(key);
    },
    /** By its title in the list of commands; one that has no place there, by its id. */
    async command(title) {
      if (title.startsWith('sidecar.')) {
        void me.agent(title).catch(() => {}); // it may ask, and is not waited for
        return;
      }
      await eventually(`command ${title}`, async () => {
        // VS Code gives a webview the focus back once the list of commands closes, late enough to close a list that the command opens.
        await page.evaluate(() => { if (document.activeElement?.matches('iframe')) { document.activeElement.blur(); } });
        await page.keyboard.press('F1');
        const input = page.locator('.quick-input-widget input.input');
        await input.waitFor({ timeout: 5000 });
        await input.fill(`>${title}`);
        const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
        await row.waitFor({ timeout: 5000 });
        await row.click({ timeout: 30_000 }); // once: a command that runs twice can undo itself
        return true;
      });
    },
    async choose(label) {
      await page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
    },
    /** Runs a command that opens a list, and chooses there; again, when a webview that gets the focus late has closed the list. */
    async pick(title, label, filter) {
      const row = page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first();
      await eventually(`${label} in the list of ${title}`, async () => {
        await me.command(title);
        if (filter) { await field.fill(filter, { timeout: 10_000 }); }
        await row.waitFor({ timeout: 10_000 });
        await row.click({ timeout: 5000 });
        return true;
      });
    },
    async type(value) {
      await field.waitFor();
      await field.fill(value);
      await page.keyboard.press('Enter');
    },
    container: page.locator('.activitybar .action-item', { has: page.locator('.action-label[aria-label^="SideCar"]') }),
    view: title => page.locator('.sidebar .pane', { has: page.locator('.pane-header h3.title', { hasText: title }) }),
    row: (title, view = 'Pending Changes') => me.view(view).locator('.monaco-list-row', { hasText: title }),
    rows: async (view = 'Pending Changes') => (await me.view(view).locator('.monaco-list-row').allInnerTexts()).map(t => t.replace(/\s+/g, ' ').replace(/(\S)([+−]\d)/, '$1 $2').trim()),
    async open(view) {
      const pane = me.view(view);
      await eventually(`view ${view}`, async () => {
        if (await pane.locator('.pane-header.expanded').count() > 0) { return true; }
        await pane.locator('.pane-header').click({ timeout: 3000 });
        return false;
      });
    },
    async unfold(row) {
      await eventually('unfolded', async () => {
        if (await row.getAttribute('aria-expanded') === 'true') { return true; }
        await row.locator('.monaco-tl-twistie').click({ timeout: 3000 });
        return false;
      });
    },
    async inline(row, action) {
      await row.hover({ timeout: 5000 }); // a row that is gone by now is not waited for
      await row.locator(`.action-label[aria-label^="${action}"]`).first().click({ timeout: 5000 });
    },
    /** Shows the container's views, if they are not on the screen already: a click on it would put them away. */
    async reveal(view = 'Pending Changes') {
      await me.container.waitFor({ timeout: 90_000 });
      await eventually(`view ${view}`, async () => {
        if (await me.view(view).isVisible()) { return true; }
        await me.container.click({ timeout: 5000 }).catch(() => {});
        return await eventually(`view ${view}`, () => me.view(view).isVisible(), 5000).catch(() => false);
      });
    },
    /**
     * Waits until the workbench has stored which editors are open, or what the page of a view keeps. One in a browser does so every few seconds, when it is
     * idle, and not when its page is left, as one on the desktop does. Chromium may run no idle callback while nothing is drawn, with any webview open: each
     * look draws a frame.
     */
    async kept(file, key = 'workbench.parts.editor') {
      await eventually(`${file} in what is stored`, () => page.evaluate(async ([file, key]) => {
        await new Promise(requestAnimationFrame);
        const done = request => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
        for (const { name } of await indexedDB.databases()) {
          if (!name.startsWith('vscode-web-state-db-')) { continue; }
          const db = await done(indexedDB.open(name));
          try {
            const state = await done(db.transaction('ItemTable').objectStore('ItemTable').get(`memento/${key}`));
            if (String(state).includes(file)) { return true; }
          } finally { db.close(); }
        }
        return false;
      }, [file, key]));
    },
    status: id => page.locator(`[id="sidecar-ls.sidecar.sidecar.${id}"]`),
    async shows(id, pattern) { await eventually(`status bar: ${pattern}`, async () => pattern.test(await text(me.status(id)))); },
    dialog: page.locator('.monaco-dialog-box'),
    toast: message => page.locator('.notification-toast', { hasText: message }),
    /** A message, wherever it is by now: those that nobody answers go from the screen into the list. */
    async notified(message) {
      await eventually(`the message ${message}`, async () => {
        if (await me.toast(message).count() > 0) { return true; }
        await me.command('Notifications: Show Notifications');
        return await page.locator('.notifications-center .notification-list-item', { hasText: message }).count() > 0;
      });
    },
    /** Clears the messages, and waits until the last of them has left the screen. */
    async clearMessages() {
      await me.command('Notifications: Clear All Notifications');
      await eventually('no message is on the screen', async () => await page.locator('.notification-toast').count() === 0);
    },
    modified: page.locator('.monaco-diff-editor .editor.modified .view-lines'),
    original: page.locator('.monaco-diff-editor .editor.original .view-lines'),
    title: action => page.locator(`.editor-actions .action-label[aria-label^="${action}"]`),
    /** The frame of a page of ours that has what fits the selector, if one has. */
    async frame(selector) {
      for (const frame of page.frames()) {
        if (await soon(frame.locator(selector).count()) > 0) { return frame; }
      }
      return undefined;
    },
    /** The frame of the page "Manage" with a tab of it on the screen. */
    async manage(title) {
      return eventually(`the tab ${title}`, async () => {
        const frame = await me.frame('#panel');
        if (!frame) {
          await me.agent('sidecar.manage');
          return false;
        }
        const tab = frame.getByRole('tab', { name: title });
        if (await soon(tab.getAttribute('aria-selected')) === 'true') { return frame; }
        await soon(tab.click({ timeout: 3000 }));
        return false;
      });
    },
    /** A row of a tab of that page. */
    item: async (tab, hasText) => (await me.manage(tab)).locator('.item', { hasText }).first(),
    /** Presses a button of a row there, until it has its effect. */
    async act(tab, row, action, what, effect) {
      await eventually(what, async () => {
        if (await effect()) { return true; }
        await (await me.item(tab, row)).getByRole('button', { name: action }).first().click({ timeout: 3000 });
        return eventually(what, effect, 5000).catch(() => false);
      });
    },
    /** Pictures of what is on the screen, if some are wanted: in each theme at each width. */
    async shot(name) {
      if (shots) {
        fs.mkdirSync(shots, { recursive: true });
        const was = page.viewportSize();
        for (const theme of Object.keys(themes)) {
          await me.theme(theme);
          for (const width of widths) {
            await page.setViewportSize({ width, height: was.height });
            await page.waitForTimeout(700); // for the picture alone: nothing waits for it
            await page.screenshot({ path: path.join(shots, `${name}-${width}-${theme}.png`) });
          }
          await page.setViewportSize(was);
        }
        await me.theme('dark');
      }
    },
    async theme(name) {
      const [setting, look] = themes[name];
      await me.ask({ eval: `await vscode.workspace.getConfiguration('workbench').update('colorTheme', '${setting}', vscode.ConfigurationTarget.Global)` });
      await eventually('the theme', async () => (await page.locator('.monaco-workbench').getAttribute('class')).split(' ').includes(look));
    },

    /** Runs a command as another extension does. */
    async agent(command, ...args) {
      return me.ask({ command, args });
    },
    async ask(body) {
      const post = () => fetch(`http://127.0.0.1:${agentPort}/`, { method: 'POST', body: JSON.stringify(body) });
      await eventually('the agent', () => fetch(`http://127.0.0.1:${agentPort}/`).then(r => r.ok), 60_000); // extensions start in their own time
      const answer = await post().then(r => r.json());
      if (answer.error) { throw new Error(answer.error); }
      return answer.value;
    },
    call: (name, args, session) => me.agent('sidecar.tools.call', { name, arguments: args, ...(session ? { session } : {}) }),
    async pending() { return (await me.agent('sidecar.review.list', {})).edits; },
  };
  return me;
}
