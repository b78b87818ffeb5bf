package config

// Bounds of the size of the workflows' database, in megabytes.
const (
	minWorkflowSize     = 16
	maxWorkflowSize     = 100_000
	defaultWorkflowSize = 256
)

// workflowSettings returns the settings that begin with "workflow.". A larger database lets agents
// occupy more of the disk.
func workflowSettings() []settingSpec {
	return []settingSpec{{
		"workflow.maxSize",
		"how many megabytes the runs of workflows may take on disk, 16 to 100000; the oldest are deleted first",
		widensIfMore, nil, integerAt("a number of megabytes", minWorkflowSize, maxWorkflowSize,
			func(c *Config) *int { return &c.WorkflowMaxMB }),
	}}
}
