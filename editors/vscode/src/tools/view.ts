// The view "Tools": by source and category.
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { ToolInfo } from '../protocol';

interface Group { id: string; label: string; children: Item[] }
export interface Leaf { id: string; tool: ToolInfo }
type Item = Group | Leaf;

export class ToolTree implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Item>;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('sidecar.tools', { treeDataProvider: this, showCollapseAll: true });
    server.onDidChange(() => this.refresh());
  }

  refresh(): void { this.changed.fire(); }

  /** Opens the search of the view. */
  async find(): Promise<void> {
    await vscode.commands.executeCommand('sidecar.tools.focus');
    await vscode.commands.executeCommand('list.find');
  }

  async list(): Promise<ToolInfo[]> {
    return (await this.server.execute<{ tools: ToolInfo[] }>('sidecar.tools.list')).tools;
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item) {
      return 'children' in item ? item.children : [];
    }
    return this.server.health === 'running' ? group(await this.list().catch(() => [])) : [];
  }

  getTreeItem(item: Item): vscode.TreeItem {
    if ('children' in item) {
      const group = new vscode.TreeItem(item.label, vscode.TreeItemCollapsibleState.Expanded);
      group.id = item.id;
      group.iconPath = item.id.includes('/') ? undefined : new vscode.ThemeIcon('extensions');
      return group;
    }
    const { tool } = item;
    const node = new vscode.TreeItem(tool.title || tool.name);
    node.id = item.id;
    node.description = tool.name;
    node.iconPath = new vscode.ThemeIcon({ read: 'eye', edit: 'edit', exec: 'terminal' }[tool.access]);
    node.tooltip = new vscode.MarkdownString(`**${tool.name}** · ${access(tool)}\n\n${tool.description}`);
    node.contextValue = 'tool';
    node.command = { command: 'sidecar.runTool', title: vscode.l10n.t('Run'), arguments: [item] };
    node.accessibilityInformation = { label: `${tool.title}, ${access(tool)}` };
    return node;
  }

  dispose(): void { this.view.dispose(); }
}

export const access = (tool: ToolInfo) => [
  { read: vscode.l10n.t('reads'), edit: vscode.l10n.t('edits'), exec: vscode.l10n.t('runs programs') }[tool.access],
  tool.requiresApproval ? vscode.l10n.t('asks first') : '',
].filter(Boolean).join(', ');

function group(tools: ToolInfo[]): Item[] {
  const sources = new Map<string, Map<string, ToolInfo[]>>();
  for (const tool of tools) {
    const source = tool.source === 'builtin' ? vscode.l10n.t('Built in') : tool.mcpServer ?? tool.source;
    const categories = sources.get(source) ?? new Map<string, ToolInfo[]>();
    sources.set(source, categories.set(tool.category, [...categories.get(tool.category) ?? [], tool]));
  }
  const grouped = [...sources].map(([source, categories]): Group => ({
    id: source, label: source,
    children: [...categories].sort().map(([category, list]): Group => ({
      id: `${source}/${category}`, label: category || vscode.l10n.t('other'),
      children: list.map(tool => ({ id: `${source}/${category}/${tool.name}`, tool })),
    })),
  }));
  return grouped.length === 1 ? grouped[0]!.children : grouped;
}
