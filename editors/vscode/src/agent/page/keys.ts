// What a key does, by where it is pressed. Pure.

export interface Pressed { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean; isComposing: boolean; keyCode: number }

export interface Where {
  place: 'composer' | 'transcript' | 'elsewhere';
  mac: boolean;
  /** Something lies over the page that Esc closes. */
  over: boolean;
  working: boolean;
  /** A question that keys may answer now. */
  asks: boolean;
  enterSends: boolean;
  /** Nothing is in the composer. */
  empty: boolean;
  /** A list stands over the composer, and has the arrows. */
  listed: boolean;
}

export type Act = 'send' | 'steer' | 'interrupt' | 'newLine' | 'close' | 'stop' | 'allow' | 'deny' | 'lastOwn' | 'previousOwn' | 'nextOwn' | 'find'
  | 'listUp' | 'listDown' | 'listTake' | 'up' | 'down' | 'first' | 'last' | 'pageUp' | 'pageDown' | 'open' | 'fold' | 'act' | 'menu' | 'stopCommand';

/** The act, or undefined when the key is the editor's or the field's own. */
export function act(e: Pressed, w: Where): Act | undefined {
  if (e.isComposing || e.keyCode === 229) { return undefined; } // an input method has it
  const ctrl = w.mac ? e.metaKey : e.ctrlKey, other = w.mac ? e.ctrlKey : e.metaKey;
  if (other) { return undefined; }
  const keys = `${ctrl ? 'ctrl+' : ''}${e.altKey ? 'alt+' : ''}${e.shiftKey ? 'shift+' : ''}${e.key}`;
  switch (keys) {
    case 'ctrl+alt+Enter': return w.asks ? 'allow' : undefined;
    case 'ctrl+alt+Backspace': return w.asks ? 'deny' : undefined;
    case 'ctrl+alt+ArrowUp': return 'previousOwn';
    case 'ctrl+alt+ArrowDown': return 'nextOwn';
    case 'ctrl+f': return 'find';
    case 'Escape': return w.over ? 'close' : w.working ? 'stop' : undefined;
  }
  if (w.place === 'composer') { return composer(keys, w); }
  return w.place === 'transcript' ? rows[keys] : undefined;
}

function composer(keys: string, w: Where): Act | undefined {
  if (w.listed) {
    switch (keys) {
      case 'ArrowUp': return 'listUp';
      case 'ArrowDown': return 'listDown';
      case 'Enter': case 'Tab': return 'listTake';
    }
  }
  switch (keys) {
    case 'Enter': return w.enterSends ? 'send' : undefined;
    // Whether it works at that moment is known to the server alone, which sends these to one that is idle, too.
    case 'ctrl+Enter': return w.enterSends ? 'steer' : 'send';
    case 'ctrl+shift+Enter': return 'interrupt';
    case 'ArrowUp': return w.empty ? 'lastOwn' : undefined;
    default: return undefined;
  }
}

const rows: Record<string, Act | undefined> = {
  ArrowUp: 'up', ArrowDown: 'down', Home: 'first', End: 'last', PageUp: 'pageUp', PageDown: 'pageDown', ArrowRight: 'open', ArrowLeft: 'fold', Enter: 'act', 'shift+F10': 'menu', ContextMenu: 'menu', Delete: 'stopCommand',
};
