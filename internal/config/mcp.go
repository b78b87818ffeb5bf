package config

// PinnedKey is the key of the setting with the pinned tools.
const PinnedKey = "mcp.pinned"

// maxPinned limits the pinned tools: each is in every conversation.
const maxPinned = 100

// mcpSettings returns the settings that begin with "mcp.".
func mcpSettings() []settingSpec {
	return []settingSpec{{
		PinnedKey,
		"tools that agents are shown by themselves, as <app id>:<tool>; their descriptions are the app's words. Running gateways follow",
		widensUnlessDefault, nil, textsAt("texts such as org.example.App:tool", func(c *Config) *[]string { return &c.Pinned }),
	}}
}
