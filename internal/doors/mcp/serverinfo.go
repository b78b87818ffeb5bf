package mcp

import (
	"context"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// icon is the program's: a white A on blue, in SVG.
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAxNiAxNiI+PHJlY3Qgd2lkdGg9IjE2IiBoZWlnaHQ9IjE2IiByeD0iMyIgZmlsbD0iIzJiNWI4NCIvPjxwYXRoIGQ9Ik0zIDEyIDYuNSA0aDNMMTMgMTJoLTIuNGwtLjctMS44SDYuMUw1LjQgMTJ6bTMuOC0zLjZoMi40TDggNS40eiIgZmlsbD0iI2ZmZiIvPjwvc3ZnPg=="

// website is where people read what the protocol is that apps speak here.
const website = "https://github.com/gybob/aai-protocol"

// shortInfo is what the server says of itself with every answer.
func shortInfo(version string) *mcp.Implementation {
	return &mcp.Implementation{Name: "aai-gateway", Title: "AAI Gateway", Version: version}
}

// fullInfoVersion is the first version of the protocol in which servers say more of themselves.
// Clients of an older one may refuse what they do not know.
const fullInfoVersion = "2025-11-25"

// withFullInfo has the server say all of itself where a client asks who it is: when it
// opens a session, and in the newer era when it asks what there is.
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
