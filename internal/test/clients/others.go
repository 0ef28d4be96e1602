package clients

import (
	"encoding/json"
	"maps"
)

// geminiAsks has Gemini CLI ask this model alone.
func geminiAsks(m *Model) []string {
	return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + m.URL}
}

// geminiFiles are the files of Gemini CLI in its user's home, with more settings.
func geminiFiles(project string, more object) object {
	settings := object{
		"model": object{"name": "gemini-2.5-flash"}, "security": object{"auth": object{"selectedType": "gemini-api-key"}},
		"privacy": object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false}, "telemetry": object{"enabled": false},
	}
	maps.Copy(settings, more)
	return object{
		".gemini/settings.json":       settings,
		".gemini/trustedFolders.json": object{project: "TRUST_FOLDER"}, // in others it starts no server of ours
	}
}

// opencodeFile is where OpenCode has its settings.
const opencodeFile = ".config/opencode/opencode.json"

// opencodeQuiet keeps OpenCode from asking anybody but its model.
var opencodeQuiet = []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}

// opencodeConfig has OpenCode ask the model of the test. By itself it asks its user
// nothing.
func opencodeConfig(url, permission string) object {
	return object{
		"model": "test/scripted", "small_model": "test/scripted", "autoupdate": false, "share": "disabled",
		"permission": object{"edit": permission, "bash": permission, "sidecar_*": permission},
		"provider": object{"test": object{
			"npm": "@ai-sdk/openai-compatible", "name": "test", "options": object{"baseURL": url + "/v1", "apiKey": "none"},
			"models": object{"scripted": object{"name": "scripted", "tool_call": true, "limit": object{"context": 200000, "output": 8000}}},
		}},
	}
}

func (c *Client) writeJSON(name string, v any) {
	c.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(name, string(data))
}

func geminiAlone(c *Client, o Options) (args, env []string) {
	for name, v := range geminiFiles(o.Dir, nil) {
		c.writeJSON(name, v)
	}
	return []string{"--prompt", "Do as planned.", "--approval-mode", "yolo"}, geminiAsks(c.model)
}

func opencodeAlone(c *Client, _ Options) (args, env []string) {
	c.writeJSON(opencodeFile, opencodeConfig(c.model.URL, "allow"))
	return []string{"run", "Do as planned."}, opencodeQuiet
}

// geminiInEditor has seen what a first start shows. In a container it looks for the
// editor outside of it, but for those who came by SSH.
func geminiInEditor(c *Client, o Options) (args, env []string) {
	for name, v := range geminiFiles(o.Dir, object{"ide": object{"enabled": true, "hasSeenNudge": true}}) {
		c.writeJSON(name, v)
	}
	return []string{"--prompt-interactive", "Do as planned."}, append(geminiAsks(c.model), "TMPDIR="+c.home, "SSH_CONNECTION=127.0.0.1 1 127.0.0.1 22")
}
