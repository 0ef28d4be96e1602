// Steps with the Agent view's page alone in a browser, with the extension played by the test.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pages } from '../agent/page.mjs';
import { events, reset, view } from '../agent/scenes.mjs';
import { browse } from './workbench.mjs';

let browser, site;
test.before(async () => {
  ({ browser } = await browse());
  site = await pages(browser);
});
test.after(async () => {
  await browser?.close();
  await site?.close();
});

/** A page of the test, closed with it; whatever it is told, it asks nothing of the network and has no fault. */
export const step = (name, opts, body) => test(name, { timeout: 90_000 }, async () => {
  const me = await site.open(opts);
  try {
    await body(me);
    assert.deepEqual([me.requests, me.faults], [[], []]);
  } finally {
    await me.page.close();
  }
});
export const composer = me => me.page.locator('.composer textarea');
const event = (seq, more) => ({ run: 'r', seq, time: new Date().toISOString(), ...more });
export const live = (after, ...list) => ({ type: 'events', run: 'r', after, events: list.map((e, i) => event(after + 1 + i, e)) });
export const show = (me, list, more) => me.send(view(more), { type: 'select', run: 'r' }, reset(list));
export const working = events({ kind: 'run.start', agent: 'claude' }, { kind: 'step.start', step: 1 }, { kind: 'text', role: 'user', message: 'item-1', text: 'go' }, { kind: 'state', state: 'running' });
