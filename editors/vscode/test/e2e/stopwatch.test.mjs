// Counts what a new user does from a fresh window to the first reviewed edit, with an agent over ACP and with our own. The seconds
// depend on the machine, so they are only kept for a table.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import test from 'node:test';
import { agents } from './agents.mjs';
import { model } from './model.mjs';
import { eventually, soon } from './person.mjs';
import { open, sandbox, tidy } from './workbench.mjs';

const vsix = path.resolve(process.env.VSIX ?? path.join(import.meta.dirname, '../../sidecar.vsix'));
const before = 'one\n', after = 'ONE\n';

const windows = { narrow: 900, wide: 1360 };

/** An agent over ACP, as Claude Code's adapter is, whose program is played. */
const acp = async box => {
  const played = await agents(), relay = path.join(box.ws, 'relay.cjs'); // where a confined program may read it
  fs.copyFileSync(path.join(import.meta.dirname, 'relay.cjs'), relay);
  return {
    settings: { agents: { scripted: played.profile(relay) } }, close: () => played.close(),
    async work() {
      const agent = await played.next();
      await agent.prompt();
      await agent.request('fs/write_text_file', { path: path.join(box.ws, 'a.txt'), content: after });
      agent.end();
    },
  };
};

/** Our own agent, whose model is played. */
const own = async () => {
  const thinks = await model();
  return {
    settings: { 'backend.profiles': [{ name: 'mine', provider: 'anthropic', url: thinks.url, model: 'played', key: 'sk-played-0123456789' }], 'backend.profile': 'mine' }, close: () => thinks.close(),
    async work() {
      (await thinks.next()).call(['write_file', { path: 'a.txt', content: after }]);
      (await thinks.next()).say('It is done.');
    },
  };
};

for (const [name, play, window] of [['scripted', acp, 'narrow'], ['SideCar Agent', own, 'wide']]) {
  test(`the first reviewed edit with ${name} in a ${window} window takes at most three clicks and two questions`, { timeout: 240_000 }, async t => {
    const box = sandbox({ 'a.txt': before });
    let plays, opened;
    try {
      plays = await play(box);
      fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
      fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify(plays.settings));
      opened = await open(box, vsix);
      const { me, page } = opened, disk = () => fs.readFileSync(path.join(box.ws, 'a.txt'), 'utf8');
      await page.setViewportSize({ width: windows[window], height: 860 });
      const begun = performance.now();
      let clicks = 0;
      const questions = [];
      const app = async text => {
        const frame = await me.frame('#app');
        return frame && text.test(await frame.locator('#app').innerText()) ? frame : undefined;
      };

      clicks++; // the key of the Agent view
      await eventually('the view', async () => {
        await page.keyboard.press('Control+Alt+Home');
        return eventually('its page', () => app(/Start an agent/), 5000).catch(() => false);
      });
      clicks++;
      let frame = await eventually('the agents', () => app(/Start an agent/));
      await frame.getByRole('button', { name: `Start ${name}` }).click();
      frame = await eventually('a question or the run', async () => await app(/It can’t see the rest/) ?? await me.frame('.composer textarea:not([disabled])'));
      if (await frame.getByRole('button', { name: 'Start', exact: true }).count() > 0) {
        questions.push(await frame.locator('#app').innerText());
        await frame.getByRole('button', { name: 'Start', exact: true }).click();
      }
      frame = await eventually('the run', () => me.frame('.head-agent'));
      const field = frame.locator('.composer textarea:not([disabled])');
      await field.fill('Make it upper case.');
      await field.press('Enter');
      // The agent works until its edit is on the screen; what it asks before is answered.
      await Promise.all([plays.work(), eventually('the edit', async () => {
        const allow = frame.getByRole('button', { name: 'Allow', exact: true });
        if (await soon(allow.count()) > 0) {
          questions.push(await frame.locator('.ask').innerText());
          await allow.click();
        }
        return /ONE/.test(await me.text(me.modified));
      })]);
      assert.equal(disk(), before, 'before it is accepted the file is as it was');
      const bar = page.locator('.part.auxiliarybar');
      if (window === 'narrow') { // the diff has room
        await bar.waitFor({ state: 'hidden' });
        await eventually('the focus in the diff', () => page.evaluate(() => document.activeElement?.closest('.monaco-diff-editor') != null)); // which it had in the bar
      } else { assert.equal(await bar.isVisible(), true); }
      await me.shot(`stopwatch-${name.replaceAll(' ', '-')}`);
      clicks++;
      await me.click(me.title('Accept'), 'the accepted edit', async () => disk() === after);
      const took = performance.now() - begun;
      if (process.env.SIDECAR_STOPWATCH) { // a row of docs/agents.md, by make stopwatch
        const agent = name === 'scripted' ? 'scripted, over ACP' : 'our own';
        fs.writeFileSync(path.join(process.env.SIDECAR_STOPWATCH, `VS-Code-${name.replaceAll(' ', '-')}.json`), JSON.stringify({ place: 'VS Code', agent, steps: clicks, questions: questions.length, seconds: took / 1000 }));
      }
      t.diagnostic(`${name}: ${clicks} clicks, ${questions.length} questions, ${(took / 1000).toFixed(1)} s to the accepted edit on ${new Date().toISOString().slice(0, 10)}`);
      assert.ok(clicks <= 3, `${clicks} clicks`);
      assert.ok(questions.length <= 2, questions.join('\n'));
    } catch (e) {
      await opened?.page.screenshot({ path: path.join(process.env.SHOTS ?? box.root, `failed-stopwatch-${name.replaceAll(' ', '-')}.png`) }).catch(() => {});
      throw e;
    } finally {
      await plays?.close();
      await tidy({ box, ...opened });
    }
  });
}
