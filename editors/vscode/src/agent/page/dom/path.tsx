// A file's name, of which the folder gives way where there is no room.
import { visible } from '../safe';
import type { App } from './app';

export function shortPath(app: App, path: string): string {
  for (const f of app.view?.folders ?? []) {
    const folder = f.endsWith('/') ? f : `${f}/`;
    if (path.startsWith(folder)) { return path.slice(folder.length); }
  }
  return path;
}

export function Path({ app, path, line, onOpen }: { app: App; path: string; line?: number; onOpen?: () => void }) {
  const name = visible(shortPath(app, path)), at = name.lastIndexOf('/') + 1;
  const open = onOpen ?? (() => { if (app.run) { app.send({ type: 'open', run: app.run, path, ...(line ? { line } : {}) }); } });
  const follow = (e: Event) => { e.preventDefault(); e.stopPropagation(); open(); };
  return (
    <span class="path" role="link" title={name} onClick={follow} onKeyDown={e => { if (e.key === 'Enter') { follow(e); } }}>
      {at > 0 && <span class="dir">{name.slice(0, at)}</span>}<span class="base">{name.slice(at)}{line ? `:${line}` : ''}</span>
    </span>
  );
}
