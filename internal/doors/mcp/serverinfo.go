package mcp

import (
	"context"
	"maps"

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

// withFullInfo adds all server information to the answers about the server: initialize and,
// in stateless versions, server/discover.
func withFullInfo(version string) mcp.Middleware {
	full := shortInfo(version)
	full.Description = "Operates the apps of this computer, with the consent of the person at it"
	full.WebsiteURL = website
	full.Icons = []mcp.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			switch said := result.(type) {
			case *mcp.InitializeResult:
				if said != nil && said.ProtocolVersion >= fullInfoVersion {
					more := *said
					more.ServerInfo = full
					return &more, err
				}
			case *mcp.DiscoverResult:
				if said != nil {
					meta := maps.Clone(said.Meta)
					if meta == nil {
						meta = mcp.Meta{}
					}
					meta[mcp.MetaKeyServerInfo] = full
					more := *said
					more.Meta = meta
					return &more, err
				}
			}
			return result, err
		}
	}
}
