package server

// commands is the command table: every command that a client can run, and the
// only list of them. docs/protocol.md describes them; a test compares the two.
func commands() []command {
	return sortedTable([]command{
		row("sidecar.session.open", "Open a session", (*Server).openSession),
		row("sidecar.session.close", "Close a session", (*Server).closeSession),
		row("sidecar.session.list", "List the sessions", (*Server).listSessions),
		row("sidecar.mode.get", "Show the mode", (*Server).getMode),
		row("sidecar.mode.list", "List the modes", (*Server).listModes),
		row("sidecar.mode.set", "Set the mode", (*Server).setMode),

		row("sidecar.tools.list", "List the tools", (*Server).listTools),
		progressRow("sidecar.tools.call", "Call a tool", (*Server).callTool),
		row("sidecar.tools.read", "Next page of a result", (*Server).readPage),
		row("sidecar.tools.metrics", "Show call statistics", (*Server).metrics),
		row("sidecar.policy.explain", "Explain the policy for a call", (*Server).explain),

		row("sidecar.review.list", "List the pending edits", (*Server).listReview),
		row("sidecar.review.diff", "Get the diff of the pending edits", (*Server).diffReview),
		row("sidecar.review.text", "Show one side of a pending edit", (*Server).textReview),
		row("sidecar.review.show", "Show the diff of the pending edits", (*Server).showReview),
		row("sidecar.review.accept", "Accept pending edits", (*Server).acceptReview),
		row("sidecar.review.reject", "Reject pending edits", (*Server).rejectReview),
		row("sidecar.review.propose", "Change a pending edit", (*Server).proposeReview),
		progressRow("sidecar.review.verify", "Test pending edits", (*Server).verifyReview),
		row("sidecar.review.undo", "Undo last agent edit", (*Server).undoReview),
		row("sidecar.review.redo", "Redo last agent edit", (*Server).redoReview),
		row("sidecar.review.output", "List, accept or drop held output", (*Server).outputReview),
		row("sidecar.review.history", "List the edits that can be undone", (*Server).historyReview),

		progressRow("sidecar.shadow.create", "Create a shadow workspace", (*Server).createShadow),
		row("sidecar.shadow.list", "List the shadow workspaces", (*Server).listShadows),
		row("sidecar.shadow.diff", "Show the diff of a shadow workspace", (*Server).diffShadow),
		row("sidecar.shadow.merge", "Merge a shadow workspace", (*Server).mergeShadow),
		row("sidecar.shadow.discard", "Discard a shadow workspace", (*Server).discardShadow),
		row("sidecar.knowledge.status", "Show the state of the project index", (*Server).knowledgeStatus),
		row("sidecar.knowledge.rebuild", "Rebuild the project index", (*Server).knowledgeRebuild),

		row("sidecar.approval.list", "List the open approvals", (*Server).listApprovals),
		row("sidecar.approval.answer", "Answer an approval", (*Server).answerApproval),
		row("sidecar.approval.allowOldest", "Allow the oldest open approval", (*Server).allowOldest),
		row("sidecar.approval.denyOldest", "Deny the oldest open approval", (*Server).denyOldest),

		row("sidecar.plugins.list", "List the plugins", (*Server).listPlugins),
		row("sidecar.plugins.trust", "Trust a plugin", (*Server).trustPlugin),
		row("sidecar.plugins.distrust", "Trust a plugin no longer", (*Server).distrustPlugin),
		row("sidecar.plugins.enable", "Enable a plugin", (*Server).enablePlugin),
		row("sidecar.plugins.disable", "Disable a plugin", (*Server).disablePlugin),
		row("sidecar.plugins.reload", "Look at a plugin again", (*Server).reloadPlugin),
		row("sidecar.hooks.list", "List the hooks", (*Server).listHooks),
		row("sidecar.mcp.list", "List the MCP servers", (*Server).listMCP),
		row("sidecar.mcp.reconnect", "Restart an MCP server", (*Server).reconnectMCP),
		row("sidecar.mcp.trust", "Trust an MCP server", (*Server).trustMCP),
		row("sidecar.mcp.signIn", "Sign in to an MCP server", (*Server).signInMCP),
		row("sidecar.mcp.show", "Give an MCP server access to hidden directories", (*Server).showMCP),

		row("sidecar.skills.list", "List the skills", (*Server).listSkills),

		row("sidecar.setup.list", "List the agents and editors that are here", (*Server).listSetup),
		row("sidecar.setup.apply", "Put sidecar-ls into an agent or editor", (*Server).applySetup),
		row("sidecar.setup.undo", "Take sidecar-ls out of an agent or editor", (*Server).undoSetup),

		row("sidecar.agent.list", "List the agents", (*Server).listAgents),
		row("sidecar.agent.sessions", "List an agent's earlier conversations", (*Server).sessionsOfAgent),
		row("sidecar.agent.run", "Start an agent", (*Server).runAgent),
		row("sidecar.agent.prompt", "Tell an agent something", (*Server).promptAgent),
		row("sidecar.agent.steer", "Tell an agent something while it works", (*Server).steerAgent),
		row("sidecar.agent.edit", "Change a prompt that waits", (*Server).editPrompt),
		row("sidecar.agent.withdraw", "Take back a prompt that waits", (*Server).withdrawPrompt),
		row("sidecar.agent.runs", "List the runs of agents", (*Server).listRuns),
		row("sidecar.agent.history", "Show what happened in a run", (*Server).historyOfRun),
		row("sidecar.agent.image", "Show an image of a run", (*Server).imageOfRun),
		row("sidecar.agent.answer", "Answer an agent", (*Server).answerAgent),
		row("sidecar.agent.cancel", "Stop an agent", (*Server).cancelAgent),
		row("sidecar.agent.stop", "Stop a command of an agent", (*Server).stopCommand),
		row("sidecar.agent.pause", "Let prompts wait", (*Server).pauseAgent),
		row("sidecar.agent.resume", "Let prompts be heard again", (*Server).resumeAgent),
		row("sidecar.agent.close", "End a run", (*Server).closeAgent),
		row("sidecar.agent.choose", "Have an agent use another mode or model of its own", (*Server).chooseOfAgent),
		row("sidecar.agent.show", "Show a conversation with an agent", (*Server).showRun),
		row("sidecar.agent.fork", "Fork a conversation", (*Server).forkAgent),
		row("sidecar.agent.rewind", "Rewind a conversation", (*Server).rewindAgent),
		row("sidecar.agent.budget", "Bound what an agent may use", (*Server).budgetOfAgent),
		row("sidecar.agent.compact", "Shorten a conversation to a summary", (*Server).compactAgent),
		row("sidecar.agent.summary", "Change or undo the summary of a conversation", (*Server).summaryOfAgent),

		row("sidecar.backend.get", "Show the language model in use", (*Server).getBackend),
		row("sidecar.audit.verify", "Check the audit log", (*Server).verifyAudit),
	})
}

// none is the argument of commands that take nothing, and the result of those
// that have nothing to say.
type none struct{}
