// Package commands has the commands that a client can run: a table of their names, and
// a function for each over the part of the workspace that it works on.
package commands

import "github.com/sidecar-ls/sidecar-ls/server/review"

// Table is the command table, sorted by name: every command that a client can run, and
// the only list of them. docs/protocol.md describes them; a test compares the two.
func Table() []Command {
	return sorted([]Command{
		row("sidecar.session.open", "Open a session", all, openSession),
		row("sidecar.session.close", "Close a session", sessions, closeSession),
		row("sidecar.session.list", "List the sessions", sessions, listSessions),
		row("sidecar.session.ports", "List the ports of sessions", portsOf, listPorts),
		row("sidecar.session.openPort", "Open a port of a session in a browser", all, openPort),
		row("sidecar.session.closePort", "Close a port of a session", portsOf, closePort),
		row("sidecar.mode.get", "Show the mode", sessions, getMode),
		row("sidecar.mode.list", "List the modes", settings, listModes),
		row("sidecar.mode.set", "Set the mode", all, setMode),

		row("sidecar.tools.list", "List the tools", dispatcher, listTools),
		progressRow("sidecar.tools.call", "Call a tool", all, callTool),
		row("sidecar.tools.read", "Next page of a result", dispatcher, readPage),
		row("sidecar.tools.metrics", "Show call statistics", dispatcher, metrics),
		row("sidecar.policy.explain", "Explain the policy for a call", dispatcher, explain),
		row("sidecar.policy.suggest", "Suggest command rules", always, suggestRules),
		row("sidecar.policy.allowAlways", "Always allow commands", all, allowAlways),

		row("sidecar.review.list", "List the pending edits", queue, review.List),
		row("sidecar.review.diff", "Get the diff of the pending edits", queue, review.Diff),
		row("sidecar.review.text", "Show one side of a pending edit", queue, review.Text),
		row("sidecar.review.show", "Show the diff of the pending edits", all, showReview),
		row("sidecar.review.accept", "Accept pending edits", queue, review.Accept),
		row("sidecar.review.reject", "Reject pending edits", queue, review.Reject),
		row("sidecar.review.propose", "Change a pending edit", queue, review.Propose),
		progressRow("sidecar.review.verify", "Test pending edits", all, verifyReview),
		row("sidecar.review.undo", "Undo last agent edit", queue, review.Undo),
		row("sidecar.review.redo", "Redo last agent edit", queue, review.Redo),
		progressRow("sidecar.review.output", "List, accept, drop or rebuild held output", all, outputReview),
		row("sidecar.review.history", "List the edits that can be undone", queue, review.History),

		progressRow("sidecar.shadow.create", "Create a shadow workspace", all, createShadow),
		row("sidecar.shadow.list", "List the shadow workspaces", shadows, listShadows),
		progressRow("sidecar.shadow.setup", "Set up a shadow workspace", all, setUpShadow),
		row("sidecar.shadow.takeSetup", "Take over the setup of another program", all, takeSetup),
		row("sidecar.shadow.diff", "Show the diff of a shadow workspace", shadows, diffShadow),
		row("sidecar.shadow.merge", "Merge a shadow workspace", all, mergeShadow),
		row("sidecar.shadow.discard", "Discard a shadow workspace", all, discardShadow),
		row("sidecar.knowledge.status", "Show the state of the project index", knowledge, knowledgeStatus),
		row("sidecar.knowledge.rebuild", "Rebuild the project index", knowledge, knowledgeRebuild),

		row("sidecar.approval.list", "List the open approvals", approvals, listApprovals),
		row("sidecar.approval.answer", "Answer an approval", approvals, answerApproval),
		row("sidecar.approval.allowOldest", "Allow the oldest open approval", approvals, allowOldest),
		row("sidecar.approval.denyOldest", "Deny the oldest open approval", approvals, denyOldest),

		row("sidecar.plugins.list", "List the plugins", plugins, listPlugins),
		row("sidecar.plugins.set", "Trust, enable or disable a plugin", plugins, setPlugin),
		row("sidecar.plugins.reload", "Reload a plugin", plugins, reloadPlugin),
		row("sidecar.hooks.list", "List the hooks", all, listHooks),
		row("sidecar.mcp.list", "List the MCP servers", mcp, listMCP),
		row("sidecar.mcp.reconnect", "Restart an MCP server", mcp, reconnectMCP),
		row("sidecar.mcp.trust", "Trust an MCP server", mcp, trustMCP),
		row("sidecar.mcp.signIn", "Sign in to an MCP server", all, signInMCP),
		row("sidecar.mcp.show", "Give an MCP server access to hidden directories", mcp, showMCP),

		row("sidecar.skills.list", "List the skills", all, listSkills),

		row("sidecar.setup.list", "List installed agents and editors", setup, listSetup),
		row("sidecar.setup.apply", "Set up an agent or editor", all, applySetup),
		row("sidecar.setup.undo", "Undo the setup of an agent or editor", all, undoSetup),

		row("sidecar.agent.list", "List the agents", manager, listAgents),
		row("sidecar.agent.sessions", "List an agent's earlier conversations", manager, sessionsOfAgent),
		row("sidecar.agent.run", "Start an agent", all, runAgent),
		row("sidecar.agent.prompt", "Send a prompt to an agent", manager, promptAgent),
		row("sidecar.agent.edit", "Edit a waiting prompt", manager, editPrompt),
		row("sidecar.agent.withdraw", "Withdraw a waiting prompt", manager, withdrawPrompt),
		row("sidecar.agent.runs", "List the runs of agents", all, listRuns),
		row("sidecar.agent.history", "Show the events of a run", manager, historyOfRun),
		row("sidecar.agent.image", "Show an image of a run", manager, imageOfRun),
		row("sidecar.agent.answer", "Answer an agent", all, answerAgent),
		row("sidecar.agent.cancel", "Stop an agent", manager, cancelAgent),
		row("sidecar.agent.stop", "Stop a command of an agent", manager, stopCommand),
		row("sidecar.agent.pause", "Pause prompts", manager, pauseAgent),
		row("sidecar.agent.resume", "Resume prompts", manager, resumeAgent),
		row("sidecar.agent.close", "End a run", manager, closeAgent),
		row("sidecar.agent.show", "Show a conversation with an agent", all, showRun),
		row("sidecar.agent.fork", "Fork a conversation", manager, forkAgent),
		row("sidecar.agent.rewind", "Rewind a conversation", manager, rewindAgent),
		row("sidecar.agent.set", "Change an agent's own mode, model or budget", manager, setAgent),
		row("sidecar.agent.compact", "Shorten a conversation to a summary", manager, compactAgent),
		row("sidecar.agent.summary", "Change or undo the summary of a conversation", manager, summaryOfAgent),

		row("sidecar.backend.get", "Show the language model in use", model, getBackend),
		row("sidecar.audit.verify", "Check the audit log", records, verifyAudit),
		row("sidecar.effects.list", "List what left a session", records, listEffects),

		// Earlier names (former.go).
		row("sidecar.plugins.trust", "Trust a plugin", plugins, trustPlugin),
		row("sidecar.plugins.distrust", "Distrust a plugin", plugins, distrustPlugin),
		row("sidecar.plugins.enable", "Enable a plugin", plugins, enablePlugin),
		row("sidecar.plugins.disable", "Disable a plugin", plugins, disablePlugin),
		row("sidecar.agent.choose", "Change an agent's own mode or model", manager, chooseOfAgent),
		row("sidecar.agent.budget", "Set an agent's budget", manager, budgetOfAgent),
		row("sidecar.agent.steer", "Steer an agent while it works", manager, steerAgent),
	})
}
