// The tools of the server, by source and category.
import * as vscode from 'vscode';
import { List } from '../agents/lists';
import type { Server } from '../client';
import type { ToolInfo } from '../protocol';

const t = vscode.l10n.t;

/** The tool that a command is about. */
export interface Leaf { tool: ToolInfo }

export async function allTools(server: Server): Promise<ToolInfo[]> {
  return (await server.execute<{ tools: ToolInfo[] }>('sidecar.tools.list')).tools;
}

export function tools(server: Server): List<Leaf> {
  return new List(
    async () => grouped(await allTools(server)).map(tool => ({ tool })),
    ({ tool }) => ({
      id: `${tool.source}/${tool.mcpServer ?? ''}/${tool.name}`, label: tool.title || tool.name, group: groupOf(tool),
      sign: ({ read: 'file', edit: 'pencil', exec: 'terminal' } as const)[tool.access],
      detail: [tool.name, access(tool)].join(' · '), more: [tool.description.split(/(?<=[.:])\s/)[0]!],
      ...(runs(tool) ? { open: 'sidecar.runTool' } : {}),
      actions: [...(runs(tool) ? [{ command: 'sidecar.runTool', label: t('Run…') }] : []), { command: 'sidecar.explainPolicy', label: t('Explain…') }],
    }));
}

/** Whether it may be run at all: without trust only those may that read. */
const runs = (tool: ToolInfo) => vscode.workspace.isTrusted || tool.access === 'read';

export const access = (tool: ToolInfo) => [
  { read: t('reads'), edit: t('edits'), exec: t('runs programs') }[tool.access],
  tool.requiresApproval ? t('asks first') : '',
].filter(Boolean).join(', ');

const sourceOf = (tool: ToolInfo) => (tool.source === 'builtin' ? '' : tool.mcpServer ?? tool.source);
const groupOf = (tool: ToolInfo) => [sourceOf(tool), tool.category || t('other')].filter(Boolean).join(' › ');

// Our own come first, and the others in the order of their sources.
function grouped(all: ToolInfo[]): ToolInfo[] {
  const order = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
  return [...all].sort((a, b) => order(sourceOf(a), sourceOf(b)) || order(a.category, b.category) || order(a.title || a.name, b.title || b.name));
}
