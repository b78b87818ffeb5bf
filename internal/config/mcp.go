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
	}, {
		"mcp.ask_for_help", "whether you are asked in the client's form for other words if an element is not found, and told there how windows become readable",
		widensNever, nil, boolAt(func(c *Config) *bool { return &c.AskForHelp }),
	}, {
		"mcp.project_folder", "the folder of a project for agents whose client names none: its scripts, workflows and baselines in .aai are used",
		widensUnlessDefault, nil, pathAt(func(c *Config) *string { return &c.ProjectFolder }),
	}}
}
