// Markdown on the screen: from tokens to elements of a fixed list. No markup is ever read.
import type { Token } from 'markdown-it';
import { t } from '../words';
import { coloured } from '../colours';
import { Growing, type Block } from '../markdown';
import { link, readable, visible } from '../safe';
import { el } from './el';

export interface Hands {
  /** A link was clicked, as it is written. */
  link(target: string): void;
  copy(text: string): void;
}

const tags = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'em', 'strong', 's', 'table', 'thead', 'tbody', 'tr', 'th', 'td']);
const most = { columns: 50, rows: 500 };

/** A message that is drawn, and drawn on while it grows. */
export class Drawn {
  private readonly growing = new Growing();
  private nodes: HTMLElement[] = [];

  constructor(private readonly at: HTMLElement, private readonly hands: Hands) {}

  set(text: string, done: boolean): void {
    const from = this.growing.set(text, done), { list } = this.growing;
    const last = list.at(-1);
    if (from === this.nodes.length - 1 && list.length === this.nodes.length && last && this.grow(this.nodes[from]!, last)) { return; }
    for (const n of this.nodes.splice(from)) { n.remove(); }
    for (const block of list.slice(from)) {
      const node = draw(block, this.hands);
      this.nodes.push(node);
      this.at.append(node);
    }
    this.colour(done ? list.length : list.length - 1);
  }

  /** Adds to a code block that grows what is new of it, so that long ones are not made again and again. */
  private grow(node: HTMLElement, block: Block): boolean {
    const code = node.querySelector('code'), token = block.tokens[0];
    if (token?.type !== 'fence' || node.dataset.info !== token.info || !(code?.firstChild instanceof Text) || code.childNodes.length > 1) { return false; }
    const text = visible(token.content);
    if (!text.startsWith(code.firstChild.data)) { return false; }
    code.firstChild.appendData(text.slice(code.firstChild.length));
    return true;
  }

  private colour(closed: number): void {
    for (const node of this.nodes.slice(0, Math.max(0, closed))) {
      const codes = node.matches('.code') ? [node] : node.querySelectorAll<HTMLElement>('.code');
      for (const code of codes) {
        if (!code.dataset.asked) {
          code.dataset.asked = '1';
          seen.observe(code);
        }
      }
    }
  }
}

/** Code is coloured when it comes to the screen, one block after the other. */
const waiting: HTMLElement[] = [];
const seen = new IntersectionObserver(entries => {
  for (const e of entries) {
    if (e.isIntersecting) {
      seen.unobserve(e.target);
      if (waiting.push(e.target as HTMLElement) === 1) { setTimeout(next); }
    }
  }
});
function next(): void {
  const at = waiting.shift()?.querySelector('code');
  const language = at?.dataset.language ?? '', pieces = at && coloured(at.textContent, language);
  if (pieces) { at.replaceChildren(...pieces.map(p => p.look ? el('span', p.look, p.text) : p.text)); }
  if (waiting.length > 0) { setTimeout(next); }
}

function draw(block: Block, hands: Hands): HTMLElement {
  if (block.deep !== undefined) { return el('pre', 'output', visible(block.deep)); }
  const root = document.createElement('div');
  put(block.tokens, root, hands);
  const only = root.firstElementChild;
  return only instanceof HTMLElement && root.childNodes.length === 1 ? only : root;
}

function put(tokens: Token[], root: HTMLElement, hands: Hands): void {
  let at = root;
  const open = (e: HTMLElement) => { at.append(e); at = e; };
  let rows = 0, columns = 0;
  for (const token of tokens) {
    if (token.type === 'tr_open') { rows++; columns = 0; }
    if (token.type === 'th_open' || token.type === 'td_open') { columns++; }
    if (token.nesting === 1) {
      if (token.hidden) { continue; }
      if (token.type === 'link_open') {
        open(linkElement(token.attrGet('href') ?? '', hands));
      } else if (token.tag === 'table') {
        const frame = el('div', 'table');
        frame.tabIndex = -1;
        at.append(frame);
        const table = el('table');
        frame.append(table);
        at = table;
      } else {
        const e = document.createElement(tags.has(token.tag) ? token.tag : 'span');
        const align = /^text-align:(left|center|right)$/.exec(token.attrGet('style') ?? '')?.[1];
        if (align) { e.classList.add(align); }
        if (token.tag === 'ol' && token.attrGet('start')) { (e as HTMLOListElement).start = Number(token.attrGet('start')); }
        if (columns > most.columns || rows > most.rows) { e.hidden = true; }
        open(e);
      }
    } else if (token.nesting === -1) {
      if (token.hidden) { continue; }
      if (token.type === 'link_close') { closeLink(at); }
      if (token.tag === 'table' && (rows > most.rows || columns > most.columns)) { at.parentElement!.append(el('p', 'dim', t('The table is larger than what is shown: {0} rows, {1} columns', rows, columns))); }
      at = at.parentElement ?? root;
      if (token.tag === 'table') { at = at.parentElement ?? root; rows = 0; }
    } else if (token.type === 'inline') {
      put(token.children ?? [], at, hands);
    } else {
      at.append(leaf(token, hands));
    }
  }
}

function leaf(token: Token, hands: Hands): Node | string {
  switch (token.type) {
    case 'code_inline': return el('code', '', visible(token.content));
    case 'fence':
    case 'code_block': return codeBlock(token, hands);
    case 'softbreak': return ' ';
    case 'hardbreak': return el('br');
    case 'hr': return el('hr');
    case 'image': {
      const target = link(token.attrGet('src') ?? ''), alt = readable(token.content) || t('no description');
      return el('span', 'dim', target.kind === 'web' ? t('Image: {0} ({1})', alt, target.host) : t('Image: {0}', alt));
    }
    default: return readable(token.content);
  }
}

function codeBlock(token: Token, hands: Hands): HTMLElement {
  const language = /^[\w+#.-]{1,30}/.exec(token.info)?.[0] ?? '';
  const copy = el('button', 'copy', t('Copy'));
  copy.type = 'button';
  copy.title = t('Copy this code');
  copy.addEventListener('click', () => hands.copy(token.content));
  const code = el('code', '', visible(token.content));
  code.dataset.language = language.toLowerCase();
  const pre = el('pre', '', code);
  const block = el('div', 'code', pre, copy);
  block.dataset.info = token.info;
  return block;
}

/** Not an anchor: the workbench follows those by itself. */
function linkElement(target: string, hands: Hands): HTMLElement {
  const kind = link(target), e = el('span');
  e.dataset.target = visible(target.slice(0, 2048));
  if (kind.kind === 'none') { return e; }
  e.className = 'link';
  e.role = 'link';
  e.tabIndex = -1;
  e.title = kind.kind === 'web' ? t('{0}, in the browser', target) : e.dataset.target;
  const follow = (event: Event) => { event.preventDefault(); event.stopPropagation(); hands.link(target); };
  e.addEventListener('click', follow);
  e.addEventListener('keydown', event => { if (event.key === 'Enter') { follow(event); } });
  return e;
}

/** Of a link that leads elsewhere than it says, where it leads is said. */
function closeLink(e: HTMLElement): void {
  const target = e.dataset.target ?? '', kind = link(target);
  if (kind.kind === 'none' && target && e.textContent !== target) { e.append(el('span', 'dim', ` (${target.slice(0, 200)})`)); }
  if (kind.kind === 'web' && !e.textContent.toLowerCase().includes(kind.host.toLowerCase())) { e.append(el('span', 'host', ` ${kind.host}`)); }
}
