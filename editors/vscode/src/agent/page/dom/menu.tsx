// A menu over the page, where what it is about is.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { App } from './app';

export function MenuView({ app }: { app: App }) {
  const menu = app.menu!, at = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const m = at.current!, box = m.getBoundingClientRect();
    m.style.left = `${Math.max(4, Math.min(menu.x, window.innerWidth - box.width - 4))}px`;
    m.style.top = `${menu.y + box.height + 4 > window.innerHeight ? Math.max(4, menu.y - box.height - 26) : menu.y + 2}px`;
    m.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [menu]);
  const move = (e: KeyboardEvent) => {
    const all = [...at.current!.querySelectorAll<HTMLElement>('[role=menuitem]')], i = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: (i + 1) % all.length, ArrowUp: (i + all.length - 1) % all.length, Home: 0, End: all.length - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); e.stopPropagation(); all[to]!.focus(); }
    if (e.key === 'Tab') { e.preventDefault(); app.closeMenu(); }
  };
  return (
    <>
      <div class="menu-ground" onMouseDown={() => app.closeMenu()} />
      <ul ref={at} class="menu" role="menu" onKeyDown={move}>
        {menu.items.map((i, n) => (
          <li key={n} role="none"><button type="button" role="menuitem" tabIndex={-1} onClick={() => { app.closeMenu(); i.run(); }}><span>{i.label}</span>{i.hint && <kbd>{i.hint}</kbd>}</button></li>
        ))}
      </ul>
    </>
  );
}
