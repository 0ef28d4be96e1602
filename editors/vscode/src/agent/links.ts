// What a link in a message may open: what an agent writes is anybody's text. No VS Code in here.
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

export type Target =
  /** A file in the workspace, as an absolute path; the line counts from one. Whether it is there, and really inside, is for the caller to look at. */
  | { kind: 'file'; path: string; root: string; line?: number }
  /** A page of the web; asked is whether it takes a question first. */
  | { kind: 'web'; url: string; host: string; ask: boolean }
  | { kind: 'none' };

const none: Target = { kind: 'none' };

/** What a link leads to, seen from the folders of the workspace. */
export function resolve(target: string, roots: string[]): Target {
  const text = target.trim();
  if (text === '' || /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(text)) {
    return none;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') {
    return web(text);
  }
  if (scheme === 'file') {
    const plain = text.replace(/#L(\d+)(?:[-,:C].*)?$/i, ':$1');
    const [, url = '', line] = /^(.*?)(?::(\d+)(?::\d+)?)?$/.exec(plain) ?? [];
    try {
      return inside(fileURLToPath(url), roots, line);
    } catch {
      return none;
    }
  }
  if (scheme && !/^[^:]+:\d+(:\d+)?$/.test(text) && !/^[a-z]:[\\/]/i.test(text)) {
    return none; // command:, vscode:, data:, javascript: and whatever else there is; not name.ext:12
  }
  const [, name = '', line] = /^(.*?)(?:(?::(\d+)(?::\d+)?)|(?:#L(\d+).*))?$/i.exec(text.replace(/#L(\d+).*$/i, ':$1')) ?? [];
  return inside(decoded(name), roots, line);
}

function web(text: string): Target {
  try {
    const url = new URL(text);
    if (url.username || url.password || !url.hostname) {
      return none; // https://bank.example@evil.example is not what it looks like
    }
    const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    return url.protocol === 'https:' || loopback ? { kind: 'web', url: url.href, host: url.host, ask: url.protocol === 'http:' } : none;
  } catch {
    return none;
  }
}

function inside(name: string, roots: string[], line: string | undefined): Target {
  if (name === '' || name.includes('\0') || name.startsWith('\\\\') || name.startsWith('//')) {
    return none;
  }
  for (const root of roots) {
    const full = path.resolve(root, name), relative = path.relative(root, full);
    if (relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative)) {
      return { kind: 'file', path: full, root, ...(line ? { line: Math.max(1, Number(line)) } : {}) };
    }
  }
  return none;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
