package config

import "fmt"

// Bounds of the size of the workflows' database, in megabytes.
const (
	minWorkflowSize     = 16
	maxWorkflowSize     = 100_000
	defaultWorkflowSize = 256
)

// workflowSettings returns the settings that begin with "workflow.". A larger database lets agents
// occupy more of the disk.
func workflowSettings() []settingSpec {
	return []settingSpec{
		{"workflow.maxSize", widensIfMore, nil, func(c *Config) any { return c.WorkflowMaxMB }, setWorkflowMaxSize},
	}
}

func setWorkflowMaxSize(c *Config, _ string, value any) error {
	n, ok := parseInteger(value, minWorkflowSize, maxWorkflowSize)
	if !ok {
		return fmt.Errorf("expected a number of megabytes from %d to %d", minWorkflowSize, maxWorkflowSize)
	}
	c.WorkflowMaxMB = n
	return nil
}
