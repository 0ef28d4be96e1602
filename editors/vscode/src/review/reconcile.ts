// What has changed between two trees, so that only that is drawn again. No VS Code in here.
import { editsOf, owners, stamp, type Node } from './model';

/** The nodes to draw again, each with all below it; all means the whole tree. */
export interface Drawn { roots: Node[]; changed: Node[] | 'all' }

/**
 * The new tree, made of the nodes of the old one as far as they stand for the same: VS Code knows a node by its object.
 */
export function reconcile(old: Node[], next: Node[]): Drawn {
  const changed: Node[] = [];
  const roots = merge(old, next, undefined, changed);
  return { roots, changed: sameIds(old, next) ? changed : 'all' };
}

function merge(old: Node[], next: Node[], parent: Node | undefined, changed: Node[]): Node[] {
  const known = new Map(old.map(n => [n.id, n]));
  return next.map(node => {
    const before = known.get(node.id);
    if (before?.kind !== node.kind) {
      node.parent = parent;
      return node;
    }
    const redraw = shown(before) !== shown(node) || !sameIds(before.children, node.children);
    const below: Node[] = [];
    const children = merge(before.children, node.children, before, below);
    Object.assign(before, node, { parent, children });
    changed.push(...redraw ? [before] : below);
    return before;
  });
}

const sameIds = (a: Node[], b: Node[]) => a.length === b.length && a.every((n, i) => n.id === b[i]!.id);

// What the row of a node says, whatever is below it.
function shown(node: Node): string {
  switch (node.kind) {
    case 'filter': return node.title;
    case 'total': return node.edits.map(e => `${e.added} ${e.removed}`).join();
    case 'batch': return `${node.edits.length} ${node.commits.length}`;
    case 'commit': return JSON.stringify(node.commit);
    case 'message': return `${node.message?.text} ${editsOf(node).length}`;
    case 'folder': return node.label;
    case 'file': return [node.where, stamp(node.edit), node.edit.kind, node.edit.from, node.edit.added, node.edit.removed, node.edit.tool, owners(node.edit).join(), node.edit.problems?.errors, node.edit.problems?.warnings].join('\n');
    case 'output': return JSON.stringify(node.held);
    case 'outputFile': return `${node.name}\n${node.marks.join()}`;
    case 'hunk': return [node.hunk.text, node.hunk.state, node.hunk.newStart, node.hunk.oldStart, node.hunk.message?.seq].join('\n');
  }
}
