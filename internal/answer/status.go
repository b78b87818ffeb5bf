package answer

// Status describes the gateway and its desktop.
type Status struct {
	AccessibilityEnabled bool     `json:"accessibility_enabled"`
	ServerVersion        string   `json:"server_version"`
	ProtocolVersion      string   `json:"protocol_version,omitempty"` // of MCP, the newest that is spoken
	VLMBackend           string   `json:"vlm_backend"`
	VLMAvailable         bool     `json:"vlm_available"`
	ConnectedApps        []string `json:"connected_apps"`
	Platform             string   `json:"platform"`
	SecurityMode         string   `json:"security_mode,omitempty"`
	UptimeSeconds        int      `json:"uptime_seconds"`
}
