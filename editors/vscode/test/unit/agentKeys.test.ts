import assert from 'node:assert/strict';
import test from 'node:test';
import { act, type Pressed, type Where } from '../../src/agent/page/keys';

const press = (keys: string, more: Partial<Pressed> = {}): Pressed => {
  const parts = keys.split('+');
  return { key: parts.at(-1)!, ctrlKey: parts.includes('ctrl'), metaKey: parts.includes('meta'), altKey: parts.includes('alt'), shiftKey: parts.includes('shift'), isComposing: false, keyCode: 0, ...more };
};
const where = (more: Partial<Where> = {}): Where => ({ place: 'composer', mac: false, over: false, working: false, asks: false, enterSends: true, empty: true, listed: false, ...more });

test('keys do what the specification says, where it says so', () => {
  for (const [keys, w, does] of [
    ['Enter', {}, 'send'], ['shift+Enter', {}, undefined], ['Enter', { enterSends: false }, undefined], ['ctrl+Enter', { enterSends: false }, 'send'], ['ctrl+Enter', { enterSends: false, working: true }, 'send'],
    ['ctrl+Enter', { working: true }, 'steer'], ['ctrl+Enter', {}, 'steer'], ['ctrl+shift+Enter', { working: true }, 'interrupt'], ['ctrl+shift+Enter', {}, 'interrupt'], ['meta+Enter', { mac: true, working: true }, 'steer'], ['meta+Enter', { working: true }, undefined], ['ctrl+Enter', { mac: true, working: true }, undefined],
    ['Escape', {}, undefined], ['Escape', { working: true }, 'stop'], ['Escape', { working: true, over: true }, 'close'], ['Escape', { working: true, place: 'transcript' }, 'stop'],
    ['ctrl+alt+Enter', {}, undefined], ['ctrl+alt+Enter', { asks: true }, 'allow'], ['ctrl+alt+Backspace', { asks: true, place: 'transcript' }, 'deny'],
    ['ArrowUp', {}, 'lastOwn'], ['ArrowUp', { empty: false }, undefined], ['ArrowUp', { listed: true }, 'listUp'], ['Enter', { listed: true }, 'listTake'], ['Tab', { listed: true }, 'listTake'], ['Tab', {}, undefined],
    ['ArrowUp', { place: 'transcript' }, 'up'], ['PageDown', { place: 'transcript' }, 'pageDown'], ['ArrowRight', { place: 'transcript' }, 'open'], ['ArrowLeft', { place: 'transcript' }, 'fold'], ['Enter', { place: 'transcript' }, 'act'], ['shift+F10', { place: 'transcript' }, 'menu'],
    ['Delete', { place: 'transcript' }, 'stopCommand'], ['Delete', {}, undefined], ['Delete', { place: 'elsewhere' }, undefined], ['shift+Delete', { place: 'transcript' }, undefined],
    ['ArrowUp', { place: 'elsewhere' }, undefined], ['ctrl+alt+ArrowUp', { place: 'elsewhere' }, 'previousOwn'], ['ctrl+f', {}, 'find'], ['ctrl+p', {}, undefined], ['a', {}, undefined],
  ] as [string, Partial<Where>, string | undefined][]) {
    assert.equal(act(press(keys), where(w)), does, `${keys} ${JSON.stringify(w)}`);
  }
});

test('while an input method composes, no key is ours', () => {
  assert.equal(act(press('Enter', { isComposing: true }), where()), undefined);
  assert.equal(act(press('Enter', { keyCode: 229 }), where()), undefined);
  assert.equal(act(press('Escape', { isComposing: true }), where({ working: true })), undefined);
});
