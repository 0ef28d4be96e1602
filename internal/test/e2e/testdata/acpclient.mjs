// A client of the Agent Client Protocol on the protocol's own SDK. It prompts the agent once,
// allows what that asks, and prints what it was told.
// node acpclient.mjs SDK DIRECTORY PROMPT AGENT [ARGUMENT ...]
import { spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { pathToFileURL } from "node:url"

const [sdk, cwd, prompt, agent, ...args] = process.argv.slice(2)
const { client, ndJsonStream } = await import(pathToFileURL(sdk).href)
const child = spawn(agent, args, { stdio: ["pipe", "pipe", "inherit"] })
const told = []
const app = client({ name: "test" })
  .onRequest("session/request_permission", ({ params: p }) => {
    told.push(`asked ${p.toolCall.title}`)
    return { outcome: { outcome: "selected", optionId: p.options.find((o) => o.kind === "allow_once").optionId } }
  })
  .onNotification("session/update", ({ params: { update: u } }) => {
    switch (u.sessionUpdate) {
      case "agent_message_chunk":
        told.push(`said ${u.content.text}`)
        break
      case "tool_call":
        told.push(`${u.kind} ${u.title}`)
        break
      case "tool_call_update":
        for (const c of u.content ?? []) if (c.type === "diff") told.push(`diff ${c.path} ${c.newText.trim()}`)
        break
    }
  })
try {
  await app.connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
    await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] })
    const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] })
    told.push(`stopped ${stopReason}`)
  })
} finally {
  child.kill()
}
console.log(told.join("\n"))
