/** Settings that VS Code has a way of its own to say. */
const notOffered = ['sidecar.workspace.trust'];

/**
 * The manifest of the package: the one in the repository, with the server's settings and tools.
 * @param {any} source package.json
 * @param {Record<string, object>} settings as internal/config makes them for VS Code
 * @param {{name: string, title: string, description: string, inputSchema: object}[]} tools
 */
export function manifest(source, settings, tools) {
  const { devDependencies, scripts, private: _, ...out } = structuredClone(source);
  for (const [key, setting] of Object.entries(settings)) {
    if (!notOffered.includes(key)) {
      out.contributes.configuration.properties[key] ??= setting;
    }
  }
  out.contributes.languageModelTools = tools.map(tool => ({
    name: `sidecar_${tool.name}`,
    displayName: tool.title || tool.name,
    toolReferenceName: tool.name.replace(/_(.)/g, (_, c) => c.toUpperCase()),
    canBeReferencedInPrompt: true,
    modelDescription: tool.description,
    userDescription: tool.description.split(/(?<=[.:])\s/)[0],
    inputSchema: tool.inputSchema,
    icon: '$(tools)',
  }));
  return out;
}
