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
		row("sidecar.tools.read", "Read on in a cut result", (*Server).readPage),
		row("sidecar.tools.metrics", "Count the calls", (*Server).metrics),
		row("sidecar.policy.explain", "Explain what a call would need", (*Server).explain),

		row("sidecar.review.list", "List the pending edits", (*Server).listReview),
		row("sidecar.review.diff", "Diff of the pending edits", (*Server).diffReview),
		row("sidecar.review.text", "A side of a pending edit", (*Server).textReview),
		row("sidecar.review.show", "Show the diff of the pending edits", (*Server).showReview),
		row("sidecar.review.accept", "Accept pending edits", (*Server).acceptReview),
		row("sidecar.review.reject", "Reject pending edits", (*Server).rejectReview),
		row("sidecar.review.propose", "Change a pending edit", (*Server).proposeReview),
		row("sidecar.review.undo", "Take back the last accept", (*Server).undoReview),

		progressRow("sidecar.shadow.create", "Create a shadow workspace", (*Server).createShadow),
		row("sidecar.shadow.list", "List the shadow workspaces", (*Server).listShadows),
		row("sidecar.shadow.diff", "Diff of a shadow workspace", (*Server).diffShadow),
		row("sidecar.shadow.merge", "Merge a shadow workspace", (*Server).mergeShadow),
		row("sidecar.shadow.discard", "Discard a shadow workspace", (*Server).discardShadow),
		row("sidecar.knowledge.status", "How far the project index is", (*Server).knowledgeStatus),
		row("sidecar.knowledge.rebuild", "Build the project index anew", (*Server).knowledgeRebuild),

		row("sidecar.approval.list", "List the open approvals", (*Server).listApprovals),
		row("sidecar.approval.answer", "Answer an approval", (*Server).answerApproval),
		row("sidecar.approval.allowOldest", "Allow the oldest open approval", (*Server).allowOldest),
		row("sidecar.approval.denyOldest", "Deny the oldest open approval", (*Server).denyOldest),

		row("sidecar.mcp.list", "List the MCP servers", (*Server).listMCP),
		row("sidecar.mcp.reconnect", "Start an MCP server anew", (*Server).reconnectMCP),
		row("sidecar.mcp.trust", "Trust an MCP server", (*Server).trustMCP),
		row("sidecar.mcp.show", "Show an MCP server directories that the sandbox hides", (*Server).showMCP),

		row("sidecar.backend.get", "Show the language model in use", (*Server).getBackend),
		row("sidecar.audit.verify", "Check the audit log", (*Server).verifyAudit),
	})
}

// none is the argument of commands that take nothing, and the result of those
// that have nothing to say.
type none struct{}
