// Markdown as tokens; HTML is text in it, and of a text that grows only the end is read again. Pure.
import MarkdownIt, { type Token } from 'markdown-it';

/** What is nested deeper is not read as Markdown, but shown as it is. */
const nesting = 20;
const md = new MarkdownIt({ html: false, linkify: true, typographer: false, maxNesting: nesting });
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
md.validateLink = () => true; // nothing becomes a link by it: safe.ts decides

/** A block that is longer is not read while it grows, but when it is whole: reading it again and again would take all the time. */
const mostGrowing = 64 << 10;

/** A block of the top level: its tokens, from the first line up to, not with, the last. Deep is its text when it is to be shown as it is. */
export interface Block { tokens: Token[]; from: number; to: number; deep?: string }

/** The blocks of a text; lines are counted from the given one. */
export function blocks(text: string, line = 0): Block[] {
  const out: Block[] = [];
  let depth = 0, begin = 0;
  const tokens = md.parse(text, {});
  tokens.forEach((t, i) => {
    depth += t.nesting;
    if (depth === 0) {
      const map = tokens[begin]!.map ?? [0, 0];
      const block: Block = { tokens: tokens.slice(begin, i + 1), from: map[0] + line, to: map[1] + line };
      if (block.tokens.some(b => b.level >= nesting - 1)) { block.deep = text.split('\n').slice(...map).join('\n'); }
      out.push(block);
      begin = i + 1;
    }
  });
  return out;
}

/** Blocks of a text that grows. What comes can change the last block alone, so the text is read again from there. */
export class Growing {
  private text = '';
  list: Block[] = [];

  /** Takes the text as it is now; from which block on they are others. Whole: nothing comes after it, so links by name are looked up in all of it. */
  set(text: string, whole = false): number {
    const last = this.list.at(-1), unread = last?.deep !== undefined && last.tokens.length === 0;
    if (text === this.text && last && !(whole && unread)) { return this.list.length; }
    const anew = !last || !text.startsWith(this.text) || whole && /^ {0,3}\[[^\]]+\]:/m.test(text);
    const kept = anew ? 0 : this.list.length - 1, line = anew ? 0 : last.from, tail = after(text, line);
    this.text = text;
    this.list.splice(kept, Infinity, ...(!whole && tail.length > mostGrowing ? [{ tokens: [], from: line, to: line, deep: tail }] : blocks(tail, line)));
    return kept;
  }
}

/** The text from a line on. */
function after(text: string, line: number): string {
  let at = 0;
  for (; line > 0; line--) { at = text.indexOf('\n', at) + 1; }
  return text.slice(at);
}
