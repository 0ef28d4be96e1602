/** An element with a class, and text or elements in it. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, look = '', ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  if (look) { e.className = look; }
  e.append(...children);
  return e;
}

export const mac = navigator.platform.startsWith('Mac');
/** How the key is written here. */
export const ctrl = mac ? 'Cmd' : 'Ctrl';
