// Rows of the Agent view's page: sub-agents, pictures, commands that are stopped, how they look in high contrast, and where the view stands.
import assert from 'node:assert/strict';
import { image, long, png, scenes } from '../agent/scenes.mjs';
import { composer, live, show, step, working } from './agentStep.mjs';

step('what a sub-agent does is inside of its row, which folds; what it asks is not hidden', {}, async me => {
  const messages = scenes.helperAsks.messages();
  await me.send(...messages);
  const keys = () => me.page.locator('.row').evaluateAll(all => all.map(e => `${e.classList.contains('nested') ? '-' : ''}${e.dataset.key}`));
  assert.deepEqual((await keys()).slice(-3), ['c:task', '-c:q', 'c:task2']);
  assert.match(await me.row('c:task').innerText(), /Look for callers of Words[\s\S]*Needs you/);
  assert.match(await me.row('c:task').getAttribute('aria-label'), /Look for callers of Words, running, 4 calls/);
  assert.match(await me.row('c:q').getAttribute('aria-label'), /^Sub-agent: /);
  await me.row('c:task').focus();
  await me.page.keyboard.press('ArrowRight');
  await me.row('m:s1').waitFor();
  assert.deepEqual((await keys()).slice(-8), ['c:task', '-m:sub', '-m:s1', '-c:sc1', '-c:sc2', '-c:sc3', '-c:q', 'c:task2']);
  const left = key => me.row(key).evaluate(e => Math.round(e.getBoundingClientRect().left));
  assert.ok(await left('c:sc1') > await left('c:task') + 10);
  await me.page.keyboard.press('ArrowLeft');
  await me.row('m:s1').waitFor({ state: 'detached' });
  await me.send(live(messages.at(-1).next, { kind: 'answered', question: 'q1', answer: 'y' }));
  await me.row('c:q').waitFor({ state: 'detached' });
  assert.match(await me.row('c:task').innerText(), /4 calls, 1 failed/);
  await me.page.keyboard.press('Control+f');
  await me.page.getByRole('textbox', { name: 'Find in the conversation' }).fill('callers** first');
  await me.page.keyboard.press('Enter');
  await me.row('m:s1').waitFor(); // it is found in the fold, and that opens
});

step('pictures are asked for, drawn with their names, and open in an editor', {}, async me => {
  await me.send(...scenes.images.messages());
  const pictures = me.page.locator('.picture');
  await pictures.nth(1).waitFor();
  assert.deepEqual((await me.posted('image')).map(m => [m.image, m.large]), [[image(1).image, false], [image(2).image, false]], 'a large one waits for a click');
  assert.equal(await me.page.locator('#app img').count(), 0);
  const given = (n, data, run = 'r') => ({ type: 'image', run, image: image(n).image, data: data.toString('base64') });
  await me.send(given(1, png(640, 320), 'other'), given(3, png(2, 2)), { type: 'image', run: 'r', image: image(2).image, why: 'It is gone.' });
  assert.equal(await me.page.locator('#app img').count(), 0, 'what was not asked for is not taken');
  await me.send(given(1, png(640, 320)));
  const img = me.page.getByRole('img', { name: 'Image: before.png' });
  await img.waitFor();
  assert.deepEqual(await img.evaluate(async e => { await e.decode(); return [e.complete, e.naturalWidth, e.src.startsWith('blob:'), e.getBoundingClientRect().width < innerWidth]; }), [true, 640, true, true]);
  assert.match(await me.row('c:s').innerText(), /Image from Claude Code: It is gone\./);
  assert.match(await me.page.locator('.transcript').innerText(), /An image is not shown: it is no PNG/);
  await me.forget();
  await me.page.getByRole('button', { name: 'Image: before.png, 640 × 320' }).click();
  assert.deepEqual(await me.posted('image'), [{ type: 'image', run: 'r', image: image(1).image, large: true }]);
  await me.forget();
  await me.page.getByRole('button', { name: /Show Image: whole\.png \(2400 × 1200, 3\.1 MB\)/ }).click();
  await me.page.locator('.picture', { hasText: 'whole.png' }).waitFor();
  assert.deepEqual(await me.posted('image'), [{ type: 'image', run: 'r', image: image(3).image, large: false }]);
  await me.send(given(3, png(2400, 1200)));
  await me.page.getByRole('img', { name: 'Image: whole.png' }).waitFor();
});

step('what is called a picture and is none is never drawn', {}, async me => {
  await me.send(...scenes.images.messages());
  await me.page.locator('.picture').nth(1).waitFor();
  const give = (n, data) => me.send({ type: 'image', run: 'r', image: image(n).image, data });
  await give(1, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>window.hacked = 1</script></svg>').toString('base64'));
  await give(2, png(2, 2, 5 << 20).toString('base64'));
  assert.equal(await me.page.locator('#app img').count(), 0);
  assert.match(await me.page.locator('.transcript').innerText(), /before\.png: it can't be shown/);
  await me.page.getByRole('button', { name: /Show Image: whole/ }).click();
  await me.page.locator('.picture', { hasText: 'whole.png' }).waitFor();
  await give(3, 'no base64!');
  assert.equal(await me.page.locator('#app :is(img, svg script)').count(), 0);
  assert.equal(await me.page.evaluate(() => window.hacked), undefined);
});

step('a command that the server runs is stopped alone: by its button, its menu, and a key on its row', {}, async me => {
  const run = (id, more) => [{ kind: 'call.proposed', call: { call: id, kind: 'execute', title: `sleep ${id}`, ...more } }, { kind: 'call.started', call: { call: id } }];
  await show(me, working);
  await me.send(live(4, ...run('1', { uri: 'terminal:term-1' }), ...run('2', {})));
  for (const id of ['1', '2']) {
    await me.row(`c:${id}`).locator('.chevron').click();
    await me.row(`c:${id}`).locator('.actions').waitFor();
  }
  assert.equal(await me.row('c:2').getByRole('button', { name: 'Stop Command' }).count(), 0); // the agent runs that one by itself
  await me.row('c:1').getByRole('button', { name: 'Stop Command' }).click();
  await me.row('c:2').focus();
  await me.page.keyboard.press('Delete');
  const stop = { type: 'stopCommand', run: 'r', call: '1' };
  assert.deepEqual(await me.posted('stopCommand'), [stop]);
  await me.row('c:1').focus();
  await me.page.keyboard.press('Delete');
  assert.deepEqual(await me.posted('stopCommand'), [stop, stop]);
  await me.page.keyboard.press('Shift+F10');
  await me.page.getByRole('menuitem', { name: 'Stop Command' }).click();
  assert.deepEqual(await me.posted('stopCommand'), [stop, stop, stop]);
  assert.deepEqual(await me.posted('control'), [], 'the agent goes on');
  await me.forget();
  await me.send(live(8, { kind: 'note', reason: 'stopped', text: 'Stopped by a person: sleep 1', call: { call: '1' } }));
  assert.match(await me.row('c:1').innerText(), /Stopping…/);
  assert.equal(await me.page.getByRole('button', { name: 'Stop Command' }).count(), 0);
  await me.row('c:1').focus();
  await me.page.keyboard.press('Delete');
  await composer(me).focus();
  await me.page.keyboard.press('Delete');
  await me.send(live(9, { kind: 'call.finished', call: { call: '1', outcome: 'failed' } }));
  assert.deepEqual(await me.posted('stopCommand'), []);
  assert.match(await me.row('c:1').innerText(), /Stopped/);
  assert.equal(await me.page.locator('.row.note').count(), 0);
});

for (const [theme, high] of [['hc-dark', true], ['hc-light', true], ['dark', false]]) {
  step(`in ${theme} what colours alone say elsewhere ${high ? 'has' : 'needs no'} lines`, { theme, width: 1360 }, async me => {
    await me.send(...scenes.done.messages());
    const style = (at, name) => at.first().evaluate((e, name) => getComputedStyle(e)[name], name);
    const { page } = me, disabled = page.locator('.composer button:disabled', { hasText: 'Send' });
    assert.deepEqual([await style(page.locator('.selected .run'), 'outlineStyle'), await style(disabled, 'borderTopStyle'), await style(disabled, 'opacity')], high ? ['solid', 'dashed', '1'] : ['none', 'solid', '0.5']);
    await me.row('c:c5').locator('.chevron').click();
    assert.equal(await style(me.row('c:c5').locator('.actions button.quiet'), 'textDecorationLine'), high ? 'underline' : 'none');
    const more = page.getByRole('button', { name: 'Detail and search' });
    await more.hover();
    assert.equal(await style(more, 'outlineStyle'), high ? 'dashed' : 'none');
  });
}

step('at the end, what moves the view while the content or the prompt grows is no person', {}, async me => {
  await show(me, long(300));
  const transcript = me.page.locator('.transcript');
  const end = () => transcript.evaluate(e => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight));
  assert.ok(await end() < 2);
  await transcript.evaluate(e => {
    e.querySelector('.row:last-of-type').style.paddingBottom = '300px';
    e.scrollTop -= 40; // as a browser does that has less room for a moment
  });
  await me.send();
  assert.ok(await end() < 2, `the view stands ${await end()} above the end`);
  for (const words of ['a', 'a\nb\nc', '']) { // the place to write grows and shrinks
    await composer(me).fill(words);
    await me.send();
    assert.ok(await end() < 2, `with ${JSON.stringify(words)} in the prompt the view stands ${await end()} above the end`);
  }
  const high = () => composer(me).evaluate(e => e.clientHeight);
  const one = await high();
  await composer(me).fill('a\nb\nc');
  assert.ok(await high() > one + 20, 'the place to write grows with its text');
  await composer(me).fill('line\n'.repeat(200));
  assert.ok(await high() <= await me.page.evaluate(() => Math.max(80, innerHeight * 0.4)) + 1, 'and only so far');
  await composer(me).fill('');
  await me.send();
  await transcript.evaluate(e => { e.scrollTop -= 40; }); // a person
  await me.send();
  assert.ok(await end() >= 38, `the view was pulled down to ${await end()}`);
});
