package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// icon is the program's icon: a white A on blue, in SVG.
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHJlY3Qgd2lkdGg9IjE2IiBoZWlnaHQ9IjE2IiByeD0iMyIgZmlsbD0iIzJiNWI4NCIvPjxwYXRoIGQ9Ik0zIDEyIDYuNSA0aDNMMTMgMTJoLTIuNGwtLjctMS44SDYuMUw1LjQgMTJ6bTMuOC0zLjZoMi40TDggNS40eiIgZmlsbD0iI2ZmZiIvPjwvc3ZnPg=="

// website describes the protocol of the apps.
const website = "https://github.com/gybob/aai-protocol"

// shortInfo is the server information in every answer.
func shortInfo(version string) *mcp.Implementation {
	return &mcp.Implementation{Name: "aai-gateway", Title: "AAI Gateway", Version: version}
}

// fullInfoVersion is the first protocol version with the further fields of server
// information. Clients of older versions may refuse unknown fields.
const fullInfoVersion = "2025-11-25"

// fullInfo returns all server information, for the answers about the server: initialize and, in
// stateless versions, server/discover.
func fullInfo(version string) *mcp.Implementation {
	full := shortInfo(version)
	full.Description = "Operates the apps of this computer, with the consent of the person at it"
	full.WebsiteURL = website
	full.Icons = []mcp.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}}
	return full
}
