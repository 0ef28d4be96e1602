// The Agent view's page alone in a browser, with the extension played by the test: what a person sees, and what the page sends.
import assert from 'node:assert/strict';
import { agents, events, long, reset, run, scenes, task, view } from '../agent/scenes.mjs';
import { composer, live, show, step, working } from './agentStep.mjs';
import { eventually } from './person.mjs';

step('a run from its first event to its end', {}, async me => {
  await me.send(view(), { type: 'select', run: 'r' });
  assert.deepEqual(await me.posted(), [{ type: 'ready' }, { type: 'follow', run: 'r' }]);
  await me.send(reset(working), live(4, { kind: 'text', role: 'assistant', message: 'm', delta: 'Some **bo' }));
  assert.equal(await me.row('m:m').innerText(), 'Some **bo');
  assert.equal(await me.row('m:m').getAttribute('aria-busy'), 'true');
  await me.send(live(5, { kind: 'text', role: 'assistant', message: 'm', delta: 'ld** text' }));
  assert.equal(await me.row('m:m').locator('strong').innerText(), 'bold');
  await me.send(live(6, { kind: 'text', role: 'assistant', message: 'm', text: 'Some **bold** text.' }, { kind: 'call.proposed', call: { call: '1', kind: 'execute', title: 'go test ./...' } }, { kind: 'call.started', call: { call: '1' } }, { kind: 'call.output', call: { call: '1' }, delta: 'ok\n' }, { kind: 'call.finished', call: { call: '1', outcome: 'completed' } },
    { kind: 'run.end', reason: 'done' }, { kind: 'state', state: 'idle' }));
  assert.deepEqual(await me.page.locator('.row').evaluateAll(all => all.map(e => e.ariaLabel.replace(/ at .*|, \d.*/, ''))), ['You', 'Claude Code', 'Command go test ./..., done', 'Done']);
  assert.equal(await me.page.getByRole('button', { name: 'Send' }).count(), 1);
  assert.equal(await me.page.getByRole('button', { name: 'Stop', exact: true }).count(), 0);
});

step('what is missing is asked for again, and events of another run are none of it', {}, async me => {
  await show(me, working);
  await me.forget();
  await me.send({ ...live(4, { kind: 'text', message: 'x', text: 'other' }), run: 'r2' }, live(9, { kind: 'text', message: 'm', text: 'late' }));
  assert.deepEqual(await me.posted('follow'), [{ type: 'follow', run: 'r', since: 4 }]);
  assert.equal(await me.page.locator('.row.text').count(), 0);
  await me.send(live(2, { kind: 'text', message: 'old', text: 'known' }, { kind: 'x' }, { kind: 'text', message: 'm', text: 'five' }));
  assert.equal(await me.page.locator('.row.text').innerText(), 'five');
});

step('keys send, queue, steer, stop; Esc closes first, and an input method has its keys', {}, async me => {
  await show(me, task);
  await composer(me).focus();
  await me.page.keyboard.type('one');
  await me.page.keyboard.press('Shift+Enter');
  await me.page.keyboard.type('two');
  await composer(me).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
  assert.deepEqual(await me.posted('prompt'), []);
  await me.page.keyboard.press('Enter');
  assert.deepEqual(await me.posted('prompt'), [{ type: 'prompt', run: 'r', text: 'one\ntwo', when: 'queue', chips: [] }]);
  await me.send(); // it is drawn with the next frame
  assert.equal(await composer(me).inputValue(), '');
  await me.page.keyboard.press('Enter');
  await me.page.keyboard.press('Escape');
  assert.equal((await me.posted('prompt')).length + (await me.posted('control')).length, 1);
  await me.send(live(task.length, { kind: 'state', state: 'running' }));
  for (const [keys, when] of [['Enter', 'queue'], ['Control+Enter', 'steer'], ['Control+Shift+Enter', 'interrupt']]) {
    await me.forget();
    await me.page.keyboard.type('x');
    await me.page.keyboard.press(keys);
    assert.deepEqual((await me.posted('prompt')).map(p => p.when), [when]);
  }
  await me.page.locator('.head .icon-only').click();
  await me.page.getByRole('menuitem').first().waitFor();
  await me.page.keyboard.press('Escape');
  await me.page.getByRole('menu').waitFor({ state: 'detached' });
  assert.deepEqual(await me.posted('control'), []);
  await me.page.keyboard.press('Escape');
  assert.deepEqual(await me.posted('control'), [{ type: 'control', run: 'r', what: 'cancel' }]);
});

step('a message never answers a question; the keys of the review do, once the card has stood still', {}, async me => {
  await me.page.evaluate(() => { const now = Date.now(); window.late = 0; Date.now = () => now + window.late; });
  await me.send(...scenes.command.messages());
  await composer(me).focus();
  await me.page.evaluate(() => { window.late = 399; });
  await me.page.keyboard.press('Control+Alt+Enter'); // nobody has read it yet
  assert.deepEqual(await me.posted('answer'), []);
  await me.page.keyboard.type('yes');
  await me.page.keyboard.press('Enter');
  assert.equal((await me.posted('prompt')).length, 1);
  assert.deepEqual(await me.posted('answer'), []);
  assert.deepEqual((await me.posted('seen')).at(-1).questions, ['q1']);
  await me.page.evaluate(() => { window.late = 400; });
  await me.page.keyboard.press('Control+Alt+Enter');
  assert.deepEqual(await me.posted('answer'), [{ type: 'answer', run: 'r', question: 'q1', answer: 'y' }]);
  assert.ok(await composer(me).evaluate(e => e === document.activeElement));
});

step('Enter on the row of a question answers nothing: it goes to the answers', {}, async me => {
  await me.send(...scenes.command.messages());
  await me.page.locator('.row.call').focus();
  await me.page.keyboard.press('Enter');
  assert.deepEqual(await me.posted('answer'), []);
  assert.equal(await me.page.evaluate(() => document.activeElement.textContent), 'Allow');
  await me.page.keyboard.press('Tab');
  await me.page.keyboard.press('Enter');
  assert.deepEqual(await me.posted('answer'), [{ type: 'answer', run: 'r', question: 'q1', answer: 'n' }]);
});

step('what can’t be undone needs its word, and no key', {}, async me => {
  await me.send(...scenes.irrecoverable.messages());
  assert.match(await me.page.locator('.ask').innerText(), /‹U\+202E›main/);
  assert.ok(await me.page.getByRole('button', { name: 'Allow', exact: true }).isDisabled());
  await composer(me).focus();
  await me.page.evaluate(() => { const now = Date.now(); Date.now = () => now + 10_000; });
  await me.page.keyboard.press('Control+Alt+Enter');
  assert.deepEqual(await me.posted('answer'), []);
  await me.page.locator('.ask input').fill('CONFIRM');
  await me.page.getByRole('button', { name: 'Allow', exact: true }).click();
  assert.deepEqual(await me.posted('answer'), [{ type: 'answer', run: 'r', question: 'q1', answer: 'y', typed: 'CONFIRM' }]);
});

step('of many answers the two that matter are always there', {}, async me => {
  await me.send(...scenes.askEdit.messages());
  assert.deepEqual((await me.page.locator('.ask .buttons button').allInnerTexts()).map(t => t.trim()), ['Allow', 'Deny', '']);
  await me.page.getByRole('button', { name: 'Other answers' }).click();
  await me.page.getByRole('menuitem').first().waitFor(); // the list does not wait for any
  assert.deepEqual(await me.page.getByRole('menuitem').allInnerTexts(), ['Allow for Session', 'Always Allow Edits in This Project', 'Deny with Reason']);
});

step('a question says what would be run, and one reason; what else there is to know is folded', {}, async me => {
  const [call, options] = [{ call: 'q', kind: 'execute', title: 'go test ./price' }, [{ id: 'y', label: 'Allow', kind: 'allow_once' }, { id: 'n', label: 'Deny', kind: 'reject_once' }]];
  await show(me, events({ kind: 'run.start', agent: 'claude' }, { kind: 'call.proposed', call }, { kind: 'question', question: 'q1', text: 'Run `go test ./price`?\nthe mode review asks about programs\nsandbox: bubblewrap', options, call }, { kind: 'state', state: 'waiting' }));
  const ask = me.page.locator('.ask');
  assert.equal(await ask.locator('.ask-title strong').innerText(), 'Run go test ./price?');
  assert.equal(await ask.locator('.ask-command').count(), 0, 'the command stands there once');
  assert.equal(await ask.locator('.ask-more').first().innerText(), 'The mode review asks about programs');
  assert.equal(await ask.getByText('sandbox: bubblewrap').isVisible(), false);
  await ask.locator('summary').click();
  assert.equal(await ask.getByText('sandbox: bubblewrap').isVisible(), true);
});

step('a denied call says "Denied by you", without the text for the model', {}, async me => {
  const call = { call: 'q', kind: 'execute', title: 'rm -rf price' };
  await show(me, events({ kind: 'run.start', agent: 'claude' }, { kind: 'step.start', step: 1 }, { kind: 'call.proposed', call }, { kind: 'question', question: 'q1', text: 'rm', options: [{ id: 'n', label: 'Deny', kind: 'reject_once' }], call },
    { kind: 'answered', question: 'q1', answer: 'n', by: 'window' }, { kind: 'call.output', call, text: 'the user did not allow it; ask what to do instead' }, { kind: 'call.finished', call: { ...call, outcome: 'failed' } }));
  const row = me.row('c:q');
  await row.locator('.chevron').first().click();
  assert.match(await row.innerText(), /Denied by you/);
  assert.doesNotMatch(await row.innerText(), /did not allow|failed| s$/);
  const late = { call: 'r', kind: 'execute', title: 'ls' }; // one that nobody has denied
  await me.send(live(7, { kind: 'call.proposed', call: late }, { kind: 'call.output', call: late, text: 'ls: no' }, { kind: 'call.finished', call: { ...late, outcome: 'failed' } }));
  assert.match(await me.row('c:r').innerText(), /failed[\s\S]*ls: no/);
});

step('a command that failed shows what it has printed, and no JSON', {}, async me => {
  const call = id => ({ call: id, kind: 'execute', title: 'go test ./...' });
  const failed = (id, raw) => [{ kind: 'call.proposed', call: call(id), raw: '{"sessionUpdate":"tool_call"}' }, { kind: 'call.finished', call: { ...call(id), outcome: 'failed' }, raw }];
  await show(me, events({ kind: 'run.start', agent: 'codex' }, ...failed('a', JSON.stringify({ update: { sessionUpdate: 'tool_call_update', rawOutput: { stdout: '', stderr: '', formatted_output: 'go: command not found\n', exit_code: 127 } } })), ...failed('b', '{"sessionUpdate":"tool_call_update","status":"failed"}'), ...failed('c', '{"cut')));
  assert.match(await me.row('c:a').innerText(), /go: command not found/);
  for (const id of ['b', 'c']) { assert.match(await me.row(`c:${id}`).innerText(), /No output/); }
  assert.doesNotMatch(await me.page.locator('.transcript').innerText(), /sessionUpdate/);
});

step('an unreachable model is one line, with the details folded', {}, async me => {
  const text = 'Post "http://127.0.0.1:7777/v1/messages": dial tcp 127.0.0.1:7777: connect: connection refused', own = (more = {}) => ({ agents: agents.map(a => a.name === 'claude' ? { ...a, kind: 'builtin' } : a), ...more });
  await show(me, events({ kind: 'run.start', agent: 'claude' }, { kind: 'step.start', step: 1 }, { kind: 'note', text }, { kind: 'note', text: 'something else' }, { kind: 'run.end', reason: 'failed', text }, { kind: 'state', state: 'idle' }), own());
  const end = me.page.locator('.end');
  assert.equal(await end.locator('strong').innerText(), 'The model can’t be reached (127.0.0.1:7777).');
  assert.equal(await end.getByText('dial tcp').isVisible(), false);
  assert.equal(await me.page.getByText('dial tcp').count(), 1, 'not in rows of its own above');
  assert.equal(await me.page.getByText('something else').count(), 1);
  await end.getByRole('button', { name: 'Edit Model' }).click();
  assert.deepEqual(await me.posted('do'), [{ type: 'do', what: 'addAgent' }]);
  await show(me, events({ kind: 'run.start', agent: 'claude' }, { kind: 'run.end', reason: 'failed', text: 'the key is not valid' }));
  assert.equal(await me.page.locator('.end strong').innerText(), 'the key is not valid');
  assert.equal(await me.page.getByRole('button', { name: 'Edit Model' }).count(), 0);
});

step('the foot says how full it is in words, and nothing where that is next to nothing', {}, async me => {
  const foot = async usage => { await show(me, events({ kind: 'run.start', agent: 'claude' }, { kind: 'usage', usage }), { model: 'Default (recommended)' }); return (await me.page.locator('.usage').allInnerTexts()).join(); };
  assert.equal(await foot({ used: 15 }), '');
  assert.equal(await foot({ used: 15, size: 200_000 }), '');
  assert.equal(await foot({ used: 82_400, size: 200_000 }), '41 % full');
  assert.equal(await foot({ used: 12_345 }), '12k tokens');
  assert.equal(await me.page.locator('.pick.model').innerText(), 'Default');
});

step('denied with a reason', {}, async me => {
  await me.send(...scenes.command.messages());
  await me.page.getByRole('button', { name: 'Other answers' }).click();
  await me.page.getByRole('menuitem', { name: 'Deny with Reason' }).click();
  await me.page.getByRole('textbox', { name: 'Reason' }).fill('not now');
  await me.page.keyboard.press('Enter');
  assert.deepEqual(await me.posted('answer'), [{ type: 'answer', run: 'r', question: 'q1', answer: 'n', reason: 'not now' }]);
});

step('scrolled up, a row stays where it is while others come and grow; sending goes to the end', {}, async me => {
  const list = long(600);
  await show(me, list);
  await composer(me).focus();
  const transcript = me.page.locator('.transcript');
  await transcript.evaluate(e => { e.scrollTop = e.scrollHeight / 2; });
  const first = () => transcript.evaluate(e => { const top = e.getBoundingClientRect().top, r = [...e.querySelectorAll('.row')].find(r => r.getBoundingClientRect().bottom > top + 1); return `${r.dataset.key} ${Math.round(r.getBoundingClientRect().top - top)}`; });
  await me.send();
  const at = await first();
  let seq = list.length;
  for (let i = 0; i < 20; i++) {
    await me.send(live(seq, { kind: 'text', message: 'grows', delta: `${'word '.repeat(30)}\n\n` }));
    seq++;
    assert.equal(await first(), at);
  }
  assert.equal(await me.page.locator('.pill').innerText(), 'New below');
  await me.page.setViewportSize({ width: 520, height: 720 });
  await me.send();
  assert.equal((await first()).split(' ')[0], at.split(' ')[0]);
  await composer(me).focus();
  await me.page.keyboard.type('next');
  await me.page.keyboard.press('Enter');
  await me.send();
  assert.ok(await transcript.evaluate(e => e.scrollHeight - e.scrollTop - e.clientHeight < 2));
  assert.ok(await me.page.locator('.pill').isHidden());
});

step('moved up a little, the view is not pulled down again; back at the end it goes along', {}, async me => {
  const list = long(300), transcript = me.page.locator('.transcript');
  await show(me, list);
  const end = () => transcript.evaluate(e => Math.round(e.scrollHeight - e.scrollTop - e.clientHeight));
  assert.ok(await end() < 2);
  await transcript.evaluate(e => { e.scrollTop -= 6; });
  await me.send();
  await me.send(live(list.length, { kind: 'text', message: 'grows', delta: 'One line.\n\nAnother.' }));
  assert.ok(await end() > 6);
  await transcript.evaluate(e => { e.scrollTop = e.scrollHeight; });
  await me.send();
  await me.send(live(list.length + 1, { kind: 'text', message: 'grows', delta: '\n\nA third.' }));
  assert.ok(await end() < 2);
});

step('older events are asked for at the top, and move nothing', {}, async me => {
  const list = long(400), late = list.slice(200);
  await me.send(view(), { type: 'select', run: 'r' }, reset(late, { more: true }));
  assert.deepEqual(await me.posted('older'), []);
  const transcript = me.page.locator('.transcript');
  await transcript.evaluate(e => { e.scrollTop = 0; });
  await me.send();
  assert.deepEqual(await me.posted('older'), [{ type: 'older', run: 'r', before: 201 }]);
  const key = await me.page.locator('.row').first().getAttribute('data-key');
  const top = () => me.row(key).evaluate(e => Math.round(e.getBoundingClientRect().top));
  const was = await top();
  await me.send({ type: 'older', run: 'r', events: list.slice(0, 200), more: false });
  assert.ok(Math.abs(await top() - was) <= 1, `${was} ${await top()}`);
  assert.equal((await me.posted('older')).length, 1);
});

step('nothing that comes takes the focus', {}, async me => {
  await show(me, working);
  await composer(me).focus();
  let seq = 4, typed = '';
  for (let i = 0; i < 30; i++) {
    await me.page.keyboard.type('a');
    typed += 'a';
    await me.send(live(seq, { kind: 'text', message: `m${i}`, text: `Message ${i}` }, { kind: 'question', question: `q${i}`, text: 'Which?', options: [{ id: 'x', label: 'X' }] }), { type: 'told', text: 'x', error: true }, { type: 'chips', chips: [{ id: 'a', kind: 'file', label: `f${i}` }] });
    seq += 2;
  }
  assert.equal(await composer(me).inputValue(), typed);
});

step('a row has the focus also when it is scrolled away, and rows are walked by keys', {}, async me => {
  await show(me, long(600));
  await me.page.locator('.row[tabindex="0"]').focus();
  const focused = () => me.page.evaluate(() => document.activeElement.dataset.key);
  const last = await focused();
  await me.page.keyboard.press('ArrowUp');
  const before = await focused();
  assert.notEqual(before, last);
  await me.page.locator('.transcript').evaluate(e => { e.scrollTop = 0; });
  await me.send();
  assert.equal(await focused(), before);
  await me.page.keyboard.press('ArrowDown');
  assert.equal(await focused(), last);
  await me.page.keyboard.press('Home');
  assert.equal(await me.page.evaluate(() => document.activeElement.ariaPosInSet), '1');
  for (let i = 0; i < 5; i++) { await me.page.keyboard.press('PageDown'); }
  assert.ok(Number(await me.page.evaluate(() => document.activeElement.ariaPosInSet)) > 5);
  await me.page.keyboard.press('Control+Alt+ArrowDown');
  assert.match(await me.page.evaluate(() => document.activeElement.className), /own/);
  assert.equal(await me.page.locator('.row[tabindex="0"]').count(), 1);
});

step('folds, draft and place are there after a reload', {}, async me => {
  const list = long(600);
  await show(me, list);
  await composer(me).fill('half a thought');
  await me.page.locator('.transcript').evaluate(e => { e.scrollTop = e.scrollHeight / 2; });
  await me.send();
  const row = me.page.locator('.row.call', { has: me.page.locator('.count') }).nth(3), key = await row.getAttribute('data-key');
  await row.locator('.chevron').click();
  await me.row(key).locator('.diff').waitFor();
  const top = () => me.row(key).evaluate(e => Math.round(e.getBoundingClientRect().top));
  const was = await top();
  await me.page.waitForFunction(key => window.name.includes(key) && window.name.includes('anchor') && window.name.includes('half'), key);
  assert.ok(await me.page.evaluate(() => window.name.length < 8192));
  await me.reload();
  assert.deepEqual(await me.posted(), [{ type: 'ready', run: 'r' }]);
  await show(me, list);
  await me.row(key).locator('.diff').waitFor();
  assert.ok(Math.abs(await top() - was) <= 2, `${was} ${await top()}`);
  assert.equal(await composer(me).inputValue(), 'half a thought');
});

step('the menu of a row has what can be done with it', {}, async me => {
  await show(me, task);
  const open = async key => {
    await me.page.locator('.transcript').evaluate(e => { e.scrollTop = 0; });
    await me.send();
    await me.row(key).focus();
    await me.page.keyboard.press('Shift+F10');
    await me.page.getByRole('menuitem').first().waitFor();
    return me.page.getByRole('menuitem').allInnerTexts();
  };
  assert.deepEqual(await open('u:item-1'), ['Copy', 'Edit and Resend', 'Rewind to Here', 'Fork from Here']);
  await me.page.getByRole('menuitem', { name: 'Edit and Resend' }).click();
  await me.send(); // it is drawn with the next frame
  assert.match(await composer(me).inputValue(), /lower case/);
  assert.ok(await composer(me).evaluate(e => e === document.activeElement));
  assert.deepEqual(await open('u:item-1'), ['Copy', 'Edit and Resend', 'Rewind to Here', 'Fork from Here']);
  await me.page.keyboard.press('ArrowDown');
  await me.page.keyboard.press('ArrowDown');
  await me.page.keyboard.press('Enter');
  const [{ text, ...rewind }] = await me.posted('rewind');
  assert.deepEqual(rewind, { type: 'rewind', run: 'r', at: 3 }); // before it
  assert.match(text, /lower case/);
  await me.page.getByRole('button', { name: 'Detail and search' }).click();
  await me.page.getByRole('menuitem', { name: 'Fork Conversation' }).click();
  assert.deepEqual(await me.posted('fork'), [{ type: 'fork', run: 'r' }]);
  for (const [can, items] of [[['fork'], 1], [['rewind'], 0]]) { // agents of others fork at the end alone, if at all
    await me.send(view({ agents: view().view.agents.map(a => ({ ...a, can })) }));
    assert.ok(!(await open('u:item-1')).includes('Fork from Here'));
    await me.page.keyboard.press('Escape');
    await me.page.getByRole('button', { name: 'Detail and search' }).click();
    await me.page.getByRole('menuitem', { name: 'Find' }).waitFor();
    assert.equal(await me.page.getByRole('menuitem', { name: 'Fork Conversation' }).count(), items);
    await me.page.keyboard.press('Escape');
  }
  assert.deepEqual(await open('m:m1'), ['Copy', 'Open as Document']);
  await me.page.keyboard.press('Escape');
  assert.equal(await me.page.evaluate(() => document.activeElement.dataset.key), 'm:m1');
  assert.deepEqual(await open('c:c5'), ['Open File', 'Copy Path']);
});

step('a summary is said otherwise and undone, of our own agent alone; its conversation is shortened, its budget set', {}, async me => {
  const compacted = (ref, text) => ({ kind: 'compaction', reason: 'summary', ref, text: `The conversation was shortened.\n\n${text}` });
  const list = events({ kind: 'run.start', agent: 'builtin' }, { kind: 'state', state: 'idle' }, compacted('7', 'It shall be red.'), compacted('9', 'It shall be blue.\n\nAnd round.'));
  const ours = { runs: [run({ agent: 'builtin' })] };
  const button = name => me.page.getByRole('button', { name, exact: true });
  await show(me, list, ours);
  for (const key of ['e:3', 'e:4']) { await me.row(key).getByRole('button', { name: 'Open' }).click(); }
  await button('Change Summary').click();
  const words = me.page.getByRole('textbox', { name: 'Summary' });
  assert.equal(await words.inputValue(), 'It shall be blue.\n\nAnd round.');
  await me.page.keyboard.press('Escape');
  await button('Change Summary').click();
  await words.fill(' ');
  await me.send();
  assert.ok(await button('Save').isDisabled());
  await words.fill('Green.');
  await button('Save').click();
  await button('Undo Summary').click();
  assert.deepEqual(await me.posted('summary'), [{ type: 'summary', run: 'r', summary: 9, text: 'Green.' }, { type: 'summary', run: 'r', summary: 9, text: '' }]);
  for (const [item, type] of [['Shorten Conversation', 'compact'], ['Set Budget…', 'budget']]) {
    await button('Detail and search').click();
    await me.page.getByRole('menuitem', { name: item }).click();
    assert.deepEqual(await me.posted(type), [{ type, run: 'r' }]);
  }
  await me.send(live(4, { kind: 'compaction', reason: 'restored', text: 'The summary was taken away.' }));
  await button('Change Summary').waitFor({ state: 'detached' });
  await show(me, list);
  await me.row('e:4').locator('pre').waitFor(); // it is open still
  assert.equal(await button('Change Summary').count(), 0);
  await button('Detail and search').click();
  await me.page.getByRole('menuitem', { name: 'Find' }).waitFor();
  assert.equal(await me.page.getByRole('menuitem', { name: 'Set Budget…' }).count(), 0);
});

step('mentions and commands are offered and taken by keys', {}, async me => {
  await show(me, task);
  await me.send({ type: 'commands', run: 'r', commands: [{ name: 'review', description: 'Looks over the changes' }, { name: 'init' }] });
  await composer(me).focus();
  await me.page.keyboard.type('see @co');
  assert.deepEqual((await me.posted('complete')).map(c => c.query), ['', 'c', 'co']);
  await me.send({ type: 'completions', id: 3, items: [{ id: 'A', label: 'a.go', kind: 'file' }, { id: 'B', label: 'count.go', kind: 'file' }] });
  await me.page.keyboard.press('ArrowDown');
  await me.send();
  assert.equal(await composer(me).getAttribute('aria-activedescendant'), 'offer-1');
  await me.page.keyboard.press('Enter');
  await me.send();
  assert.equal(await composer(me).inputValue(), 'see @count.go ');
  assert.deepEqual(await me.posted('attachCompletion'), [{ type: 'attachCompletion', completion: 'B' }]);
  assert.equal(await me.page.getByRole('option').count(), 0);
  await me.page.keyboard.press('Control+z');
  await me.send();
  assert.equal(await composer(me).inputValue(), 'see @co');
  await me.page.keyboard.press('Control+y');
  await me.send();
  assert.equal(await composer(me).inputValue(), 'see @count.go ');
  assert.deepEqual(await me.posted('prompt'), []);
  await composer(me).fill('/re');
  await me.page.getByRole('option', { name: '/review' }).waitFor();
  await me.page.keyboard.press('Tab');
  await me.send();
  assert.equal(await composer(me).inputValue(), '/review ');
});

step('the queue: edited, withdrawn, hurried', {}, async me => {
  await me.send(...scenes.queue.messages());
  await composer(me).focus();
  await me.page.keyboard.press('ArrowUp'); // the last, for editing
  const field = me.page.getByRole('textbox', { name: 'Queued message' });
  await field.fill('Run the linter, too');
  await me.page.keyboard.press('Enter');
  assert.deepEqual(await me.posted('edit'), [{ type: 'edit', run: 'r', item: 'i3', text: 'Run the linter, too' }]);
  await me.page.locator('.bar-fold', { hasText: 'queued' }).click();
  await me.page.getByRole('button', { name: 'Withdraw this message' }).nth(1).click();
  await me.page.getByRole('button', { name: 'Steer with this' }).first().click();
  assert.deepEqual([...await me.posted('withdraw'), ...await me.posted('hurry')], [{ type: 'withdraw', run: 'r', item: 'i2' }, { type: 'hurry', run: 'r', item: 'i1', when: 'steer' }]);
});

step('what an agent writes stays text: nothing is loaded, run or opened by itself', { height: 4000 }, async me => {
  await me.send(...scenes.hostile.messages());
  await me.page.locator('.row .chevron[aria-expanded="false"]').evaluateAll(all => all.forEach(c => c.click()));
  await me.send();
  assert.equal(await me.page.evaluate(() => window.hacked), undefined);
  assert.equal(await me.page.locator('#app img, #app a, #app iframe, #app script, #app object, #app svg [onload], #app form[action]').count(), 0);
  const texts = await me.page.locator('.transcript').innerText();
  assert.match(texts, /<script>window\.hacked = 1<\/script>/);
  assert.match(texts, /command:workbench\.action\.quit/);
  assert.doesNotMatch(texts, /[\u202a-\u202e\u2066-\u2069\u0007\u001b]/);
  assert.deepEqual(await me.page.locator('[role=link]').evaluateAll(all => all.map(e => e.dataset.target).filter(Boolean)), ['https://evil.example/login', 'https://evil.example', 'https://go.dev', 'http://127.0.0.1:9/x']);
  await me.forget();
  await me.page.locator('[role=link]', { hasText: 'bank' }).click();
  assert.deepEqual(await me.posted('link'), [{ type: 'link', run: 'r', target: 'https://evil.example/login' }]);
  assert.ok(await me.page.locator('*').count() < 3000);
});

step('events of any shape are drawn, and those after them', {}, async me => {
  await show(me, [], { settings: { enterSends: true, announce: 'paragraphs', detail: 'everything' } });
  const kinds = ['run.start', 'step.start', 'text', 'thought', 'call.proposed', 'call.decided', 'call.started', 'call.output', 'call.finished', 'note', 'steer', 'plan', 'usage', 'state', 'compaction', 'child', 'question', 'answered', 'queue', 'run.end', '__proto__'];
  const members = ['message', 'role', 'delta', 'text', 'call', 'state', 'reason', 'retryAt', 'question', 'options', 'expiresAt', 'answer', 'items', 'plan', 'usage', 'child', 'raw', 'time'];
  const wrong = [7, '', 'x\u202e<b>', true, null, [], {}, [[]], [null], [{}], { call: 'c' }, -1, 1e300, [{ id: 'a' }, { id: 'a' }], [{ item: 'i' }, { item: 'i', text: 7 }], [{ text: 'p' }], { used: 5, size: 0 }, { cost: 1, currency: '<b>' }];
  let seq = 0;
  for (const kind of kinds) {
    const list = members.flatMap(member => wrong.map(value => ({ kind, call: { call: `c${seq % 5}`, kind: ['edit', 'read', 'execute', 'constructor'][seq % 4], diff: [{ path: 'a', old: 'x', new: 'y' }, { path: 'a', new: 'z' }] }, question: `q${seq % 7}`, message: `m${seq % 3}`, [member]: value })));
    await me.send(live(seq, ...list));
    seq += list.length;
    await me.page.locator('.transcript').evaluate(e => { e.scrollTop = e.scrollHeight / 2; });
    await me.send();
  }
  await me.send(live(seq, { kind: 'text', message: 'after', text: 'Still here.' }));
  await me.page.locator('.transcript').evaluate(e => { e.scrollTop = e.scrollHeight; });
  await me.send();
  assert.match(await me.page.locator('.transcript').innerText(), /Still here\./);
});

step('5,000 events are few elements', {}, async me => {
  const list = long(5000);
  await show(me, list);
  for (const y of [1, 0.5, 0.1]) {
    await me.page.locator('.transcript').evaluate((e, y) => { e.scrollTop = e.scrollHeight * y; }, y);
    await me.send();
    assert.ok(await me.page.locator('*').count() < 2000);
    assert.ok(await me.page.locator('.row').count() > 10);
  }
});

step('the first run: an agent is started when a person has said what it may see', {}, async me => {
  await me.send(...scenes.first.messages());
  await me.page.getByRole('button', { name: 'Start Claude Code' }).click();
  assert.deepEqual(await me.posted('start'), [{ type: 'start', agent: 'claude' }]);
  await me.page.getByRole('button', { name: 'Start SideCar Agent' }).click();
  assert.equal((await me.posted('start')).length, 1);
  await me.page.getByRole('button', { name: 'Cancel' }).click();
  await me.page.getByRole('button', { name: 'Start SideCar Agent' }).click();
  await me.page.getByRole('button', { name: 'Start', exact: true }).click();
  assert.deepEqual((await me.posted()).filter(m => m.agent === 'builtin'), [{ type: 'consent', agent: 'builtin', yes: false }, { type: 'consent', agent: 'builtin', yes: true }, { type: 'start', agent: 'builtin' }]);
  assert.ok(await composer(me).isDisabled());
});

step('what is typed while an agent starts is sent to its run when it is ready, and to no other', {}, async me => {
  const starting = view({ runs: [], starting: { agent: 'claude', since: Date.now() } });
  for (const [list, sent] of [[task, []], [events({ kind: 'run.start', agent: 'builtin' }, { kind: 'state', state: 'idle' }), []], [events({ kind: 'run.start', agent: 'claude' }, { kind: 'state', state: 'idle' }), ['go']]]) {
    await me.send(starting, { type: 'select' });
    await composer(me).fill('go');
    await composer(me).press('Enter');
    assert.deepEqual(await me.posted('prompt'), []);
    await me.send(view({ runs: [] }), { type: 'select', run: 'r' }, reset(list));
    assert.deepEqual((await me.posted('prompt')).map(p => p.text), sent);
    assert.equal(await composer(me).inputValue(), sent.length > 0 ? '' : 'go');
  }
  await me.forget();
  await me.send(starting, reset(task)); // the agent of an older run starts again
  await composer(me).fill('more');
  await composer(me).press('Enter');
  assert.deepEqual(await me.posted('prompt'), []);
  await me.send(view());
  assert.deepEqual((await me.posted('prompt')).map(p => p.text), ['more']);
  await me.forget();
  for (const [run, sent] of [['other', []], ['r', ['soon']]]) { // a run is chosen whose events are on their way
    await me.send(view(), { type: 'select', run: 'r' }, { type: 'select', run: 'third' }, { type: 'select', run: 'r' });
    await composer(me).fill('soon');
    await composer(me).press('Enter');
    assert.deepEqual(await me.posted('prompt'), []);
    await me.send({ type: 'select', run }, { ...reset(task), run });
    assert.deepEqual((await me.posted('prompt')).map(p => p.text), sent);
  }
  await me.forget();
  await me.send(starting, { type: 'select' });
  await me.page.keyboard.press('Escape');
  assert.deepEqual(await me.posted('cancelStart'), [{ type: 'cancelStart' }]);
});

step('found also in what is folded or not drawn', {}, async me => {
  await show(me, long(1000));
  await me.page.locator('.transcript').focus();
  await me.page.keyboard.press('Control+f');
  await me.page.getByRole('textbox', { name: 'Find in the conversation' }).fill('f3.go');
  await me.page.keyboard.press('Enter');
  await me.page.locator('.row.marked').first().waitFor();
  assert.match(await me.page.locator('.row.marked').innerText(), /f3\.go/);
  await me.page.waitForFunction(() => CSS.highlights.get('find')?.size > 0);
  await me.page.keyboard.press('Escape');
  await me.page.locator('.find').waitFor({ state: 'detached' });
});

step('a row that the extension asks for comes to the screen and is marked', {}, async me => {
  const list = long(1000);
  await show(me, list);
  await me.send({ type: 'show', run: 'r', seq: 40 });
  const marked = me.page.locator('.row.marked');
  await marked.waitFor();
  assert.ok(await marked.evaluate(e => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().top < innerHeight));
  await eventually('the mark gone', async () => await marked.count() === 0, 5000);
});

step('with a screen reader what has come to an end is told, and questions at once', { reader: true }, async me => {
  await show(me, working);
  await me.send(live(4, { kind: 'text', message: 'm', text: 'All is well.' }, { kind: 'question', question: 'q', text: 'Go on?' }));
  assert.match(await me.page.locator('[role=alert]').innerText(), /Claude Code asks: Go on\?/);
  await eventually('the status', async () => /All is well/.test(await me.page.locator('#app > [role=status]').innerText()));
  assert.equal(await me.page.locator('.transcript[aria-live], .rows[aria-live]').count(), 0);
  for (const b of await me.page.locator('button').all()) { assert.ok((await b.getAttribute('aria-label')) || (await b.innerText()).trim(), await b.evaluate(e => e.outerHTML)); }
});

step('the server down, the words stay', {}, async me => {
  await show(me, task);
  await composer(me).fill('later');
  await me.send(view({ health: 'failed' }));
  assert.ok(await me.page.locator('.row').count() > 3);
  await composer(me).press('Enter');
  assert.deepEqual(await me.posted('prompt'), []);
  assert.equal(await composer(me).inputValue(), 'later');
  await me.page.getByRole('button', { name: 'Restart Server' }).click();
  assert.deepEqual(await me.posted('do'), [{ type: 'do', what: 'restart' }]);
});

step('a picture that is pasted goes along, one of another kind is refused with a word', {}, async me => {
  await show(me, task);
  const paste = (type, name) => composer(me).evaluate((f, [type, name]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([1, 2, 3])], name, { type }));
    f.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, [type, name]);
  await paste('image/png', 'shot.png');
  await eventually('the picture', async () => (await me.posted('attachImage')).length === 1);
  assert.deepEqual(await me.posted('attachImage'), [{ type: 'attachImage', name: 'shot.png', mime: 'image/png', data: 'AQID' }]);
  await paste('image/svg+xml', 'evil.svg');
  await me.page.locator('.notice', { hasText: 'evil.svg' }).waitFor();
  assert.equal((await me.posted('attachImage')).length, 1);
});

step('every state is drawn in the least width, and nothing of it is wider', { width: 220, height: 600 }, async me => {
  for (const [name, scene] of Object.entries(scenes)) {
    await me.send({ type: 'select' }, { type: 'chips', chips: [] }, { type: 'draft', text: '', replace: true }, ...scene.messages());
    await scene.then?.(me.page, me.send);
    await me.send();
    const wide = await me.page.evaluate(() => [...document.querySelectorAll('button, .row, .bar, .state')].find(b => b.checkVisibility() && b.getBoundingClientRect().right > innerWidth + 1)?.outerHTML.slice(0, 200));
    assert.equal(wide, undefined, name);
    assert.deepEqual(me.faults, [], name);
    if (await me.page.locator('.menu-ground, .state[role=group]').count() > 0) { await me.page.keyboard.press('Escape'); }
  }
});
