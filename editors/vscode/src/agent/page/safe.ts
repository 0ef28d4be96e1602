// What a model or a program has written, made fit to be shown: links that may be followed, invisible characters, colours of terminals. Pure.

/** Characters that turn the direction of a text or can't be seen. */
const hidden = /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** Those that only turn the direction or hide, and are not part of how letters join. */
const turning = /[\u202a-\u202e\u2066-\u2069\u061c\u200e\u200f]/;

/** With each such character shown by its number. */
export function visible(text: string): string {
  return text.replace(hidden, c => `‹U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`);
}

/** Prose: emoji and scripts need joiners and variation signs, so only what turns the direction is shown. */
export function readable(text: string): string {
  return turning.test(text) ? text.replace(/[\u202a-\u202e\u2066-\u2069\u061c\u200e\u200f]/g, visible) : text;
}

export const deceives = (text: string): boolean => text.search(hidden) >= 0;

export type Link =
  | { kind: 'file'; path: string; line?: number }
  | { kind: 'web'; host: string }
  | { kind: 'none' };

/**
 * What a link of a message is. Files are those of the workspace, by a relative path or one that begins with a slash; the extension looks
 * whether it is in there. Of the web https alone, and http of this machine.
 */
export function link(target: string): Link {
  if (target.length > 2048 || /[\u0000-\u001f\\]/.test(target) || deceives(target)) { return { kind: 'none' }; }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(target)?.[1]?.toLowerCase();
  if (scheme === 'https' || scheme === 'http') {
    let url: URL;
    try { url = new URL(target); } catch { return { kind: 'none' }; }
    const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    return (scheme === 'https' || local) && !url.username && !url.password && url.hostname ? { kind: 'web', host: url.host } : { kind: 'none' };
  }
  const place = /^([^?#]*?)(?::(\d{1,7})(?::\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)?$/.exec(target);
  let path = place?.[1] ?? '';
  try { path = decodeURIComponent(path); } catch { return { kind: 'none' }; }
  if (!path || path.startsWith('//') || /^[a-z][a-z0-9+.-]+:/i.test(path) || path.split('/').includes('..') || /[\u0000-\u001f\\]/.test(path)) { return { kind: 'none' }; }
  const line = Number(place?.[2] ?? place?.[3]);
  return line ? { kind: 'file', path, line } : { kind: 'file', path };
}

/** A piece of a program's output: its text, and classes for its colours. */
export interface Piece { text: string; look: string }

/**
 * The output of a program with the colours that it has set; all else that a terminal would obey is left out. A line that was written over is
 * its last version.
 */
export function terminal(text: string): Piece[] {
  const plain = text
    .replace(/\u001b[\]P_^X][^\u0007\u001b]{0,100000}(?:\u0007|\u001b\\|$)/g, '')           // titles, links, the clipboard
    .replace(/\u001b\[[0-?]*[ -/]*(?:[@-ln-~]|$)/g, '').replace(/\u001b[ -/]*[0-Z\\^-~]/g, '') // the cursor
    .replace(/\r+\n/g, '\n').replace(/(?:^|\n)[^\n]*\r(?=[^\n])/g, s => s.startsWith('\n') ? '\n' : '');
  const pieces: Piece[] = [];
  const now = { fg: '', bg: '', bold: false, dim: false, italic: false, under: false };
  const add = (t: string) => {
    const clean = visible(t.replace(/[\u0007\u0008\r]/g, ''));
    if (!clean) { return; }
    const look = [now.fg && `fg-${now.fg}`, now.bg && `bg-${now.bg}`, now.bold && 'bold', now.dim && 'dim', now.italic && 'italic', now.under && 'under'].filter(Boolean).join(' ');
    const last = pieces.at(-1);
    if (last?.look === look) { last.text += clean; } else { pieces.push({ text: clean, look }); }
  };
  let at = 0;
  for (const m of plain.matchAll(/\u001b\[([0-9;:]*)m/g)) {
    add(plain.slice(at, m.index).replaceAll('\u001b', ''));
    at = m.index + m[0].length;
    const codes = m[1]!.split(/[;:]/).map(Number);
    for (let i = 0; i < codes.length; i++) {
      const c = codes[i]!;
      if (c === 0) { Object.assign(now, { fg: '', bg: '', bold: false, dim: false, italic: false, under: false }); }
      else if (c === 1) { now.bold = true; } else if (c === 2) { now.dim = true; } else if (c === 3) { now.italic = true; } else if (c === 4) { now.under = true; }
      else if (c === 22) { now.bold = now.dim = false; } else if (c === 23) { now.italic = false; } else if (c === 24) { now.under = false; }
      else if (c === 39) { now.fg = ''; } else if (c === 49) { now.bg = ''; }
      else if (c >= 30 && c <= 37) { now.fg = String(c - 30); } else if (c >= 90 && c <= 97) { now.fg = String(c - 82); }
      else if (c >= 40 && c <= 47) { now.bg = String(c - 40); } else if (c >= 100 && c <= 107) { now.bg = String(c - 92); }
      else if (c === 38 || c === 48) { // of 256 the first 16 have names; others stay without colour
        const n = codes[i + 1] === 5 ? codes[i + 2]! : -1;
        i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0;
        now[c === 38 ? 'fg' : 'bg'] = n >= 0 && n < 16 ? String(n) : '';
      }
    }
  }
  add(plain.slice(at).replaceAll('\u001b', ''));
  return pieces;
}

/** The lines of a text with those that are too long cut. */
export function lines(text: string, width = 2000): string[] {
  return text.split('\n').map(l => l.length > width ? `${l.slice(0, width)}…` : l);
}

/** The text that a tool has given, of the JSON in which some agents tell it; empty where there is none. */
export function printed(raw: string | undefined): string {
  const texts: string[] = [];
  const of = (v: unknown, depth: number): void => {
    if (typeof v === 'string') {
      if (v.trim()) { texts.push(v); }
    } else if (Array.isArray(v)) {
      v.slice(0, 20).forEach(x => of(x, depth + 1));
    } else if (v && typeof v === 'object' && depth < 8) {
      const o = v as Record<string, unknown>;
      const key = ['formatted_output', 'aggregated_output', 'rawOutput', 'stdout', 'stderr', 'output', 'content', 'text', 'update', 'message', 'error'].filter(k => Object.hasOwn(o, k));
      const whole = key.find(k => k === 'formatted_output' || k === 'aggregated_output');
      (whole ? [whole] : key.includes('rawOutput') ? ['rawOutput'] : key).forEach(k => of(o[k], depth + 1));
    }
  };
  try { of(JSON.parse(raw ?? ''), 0); } catch { return ''; } // it is cut, or no JSON
  return texts.join('\n');
}

/** The host that a model could not be reached at, of what Go and Node say then. */
export function unreachable(text: string): string | undefined {
  if (!/dial (tcp|unix)|connection refused|no such host|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|i\/o timeout|network is unreachable|fetch failed/i.test(text)) { return undefined; }
  return /https?:\/\/([^/"\s]+)/.exec(text)?.[1] ?? /(?:dial tcp |ECONNREFUSED |ENOTFOUND )\[?([\w.:-]+)/.exec(text)?.[1]?.replace(/:$/, '') ?? '';
}
